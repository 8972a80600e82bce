extension Site {
    /// The style of lists, objects and queries, which follows that of all pages.
    static let tableStyle = """
        thead th a { color: inherit; text-decoration: none; }
        thead th a:hover { text-decoration: underline; }
        select, textarea { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet);
          border-radius: 6px; padding: .35rem .6rem; max-width: 100%; }
        textarea { width: 100%; font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
        select:focus-visible, textarea:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        .filter { display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0; }
        .filter input { flex: 1 1 10rem; width: auto; margin: 0; min-width: 0; }
        details fieldset { display: flex; flex-wrap: wrap; gap: .25rem 1rem; border: 1px solid var(--line);
          border-radius: 6px; margin: .5rem 0; padding: .25rem .75rem .5rem; }
        details fieldset label { overflow-wrap: anywhere; }
        legend { color: var(--quiet); font-size: .875rem; }
        details input[type=checkbox] { width: auto; margin: 0 .25rem 0 0; }
        summary { cursor: pointer; width: fit-content; }
        .filters { display: flex; flex-wrap: wrap; gap: .5rem; list-style: none; margin: .5rem 0; padding: 0; }
        .filters li { border: 1px solid var(--line); border-radius: 999px; padding: .1rem .75rem; overflow-wrap: anywhere; }
        .filters a { text-decoration: none; padding: 0 .25rem; }
        .count { margin: .5rem 0; }
        .key { color: var(--quiet); font-size: .875rem; white-space: nowrap; }
        .missing { color: var(--error); }
        .label { font-size: 1.15rem; margin: -.5rem 0 1rem; overflow-wrap: anywhere; }
        td a bdi { display: inline-block; max-width: min(20rem, 60vw); overflow: hidden; text-overflow: ellipsis;
          vertical-align: bottom; text-decoration: underline; }
        td:has(> .key) { white-space: nowrap; }
        td .text { max-width: min(22rem, 75vw); }
        th[scope=row] ~ td:not(.value) .text { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2;
          overflow: hidden; }
        .scroll:has(> table) { max-height: 85vh; overflow-y: auto; }
        .scroll > table > thead th { position: sticky; top: 0; }
        .question dd { margin: 0 0 .5rem; overflow-wrap: anywhere; }
        td.value .text { max-width: min(40rem, 75vw); }
        .thumbnail { display: inline-block; max-width: 6rem; max-height: 4rem; vertical-align: middle;
          border: 1px solid var(--line); border-radius: 4px; }
        .photo { display: block; max-width: min(100%, 40rem); max-height: 40rem; border: 1px solid var(--line);
          border-radius: 4px; }
        .copy { font-size: .875rem; padding: 0 .5rem; margin-left: .5rem; }
        .query { margin: 1rem 0; }
        .views { padding-left: 1.25rem; }
        .views small { color: var(--quiet); font-size: .875rem; overflow-wrap: anywhere; }
        #nil { color: var(--quiet); overflow-wrap: anywhere; }
        .noise { margin: .5rem 0; }
        td:target { background: var(--warning-ground); }
        @media (max-width: 30rem) { td a bdi { max-width: 48vw; } td .text, td.value .text { max-width: 52vw; } }

        """

    /// Copies the values of an object, runs a query by Ctrl+Enter, and turns the pages of a list by the arrow keys.
    static let tableScript = """
        {
          for (const cell of document.querySelectorAll("td.value")) {
            const text = cell.querySelector("bdi.text, a bdi");
            const words = text ? text.textContent : cell.textContent.trim();
            if (cell.querySelector("img, code") || words.endsWith(" more)")) continue;
            const button = document.createElement("button");
            const name = cell.parentElement.querySelector("th bdi").textContent;
            button.type = "button";
            button.className = "copy";
            button.textContent = "Copy";
            button.setAttribute("aria-label", "Copy " + name);
            button.addEventListener("click", async () => {
              try {
                await navigator.clipboard.writeText(words);
                button.textContent = "Copied";
              } catch {
                button.textContent = "Not copied";
              }
              setTimeout(() => { button.textContent = "Copy"; }, 2000);
            });
            cell.append(button);
          }
          const query = document.getElementById("sql");
          if (query) query.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) query.form.requestSubmit();
          });
          document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.altKey || event.metaKey || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
            // In these, the arrow keys move the cursor or scroll.
            if (event.target.closest("input, select, textarea, figure, .scroll") || !getSelection().isCollapsed) return;
            const places = event.shiftKey ? ["first", "last"] : ["prev", "next"];
            const link = document.querySelector(`.pages a[rel=${places[event.key === "ArrowLeft" ? 0 : 1]}]`);
            if (link) link.click();
          });
        }

        """
}
