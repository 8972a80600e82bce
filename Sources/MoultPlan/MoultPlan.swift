// MoultPlan. Pure: differences, renames and questions, inference, composition, planning.
