/** Draws the reference of the API from its description. Swagger UI is loaded before, as a script of its own. */

type Options = {
  url: string;
  domNode: HTMLElement | null;
  /** Null: the description is sent to nobody. */
  validatorUrl: null;
  tryItOutEnabled: boolean;
  deepLinking: boolean;
  displayRequestDuration: boolean;
  defaultModelsExpandDepth: number;
  supportedSubmitMethods: string[];
  syntaxHighlight: false;
  plugins: { wrapComponents: Record<string, () => (properties: { text: string }) => string | null> }[];
};

const { SwaggerUIBundle } = globalThis as unknown as { SwaggerUIBundle: (options: Options) => unknown };

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", prefersDark.matches);
prefersDark.addEventListener("change", applyScheme);
applyScheme();

const domNode = document.getElementById("docs");
if (domNode !== null)
  new MutationObserver(() => nameParts(domNode)).observe(domNode, { childList: true, subtree: true });

function getText({ text }: { text: string }): string {
  return text;
}

/** What Swagger UI leaves without a name, a level or a place in the keyboard's order. */
function nameParts(drawn: Element): void {
  const set = (selector: string, attribute: string, describe: (found: Element) => string) => {
    for (const found of drawn.querySelectorAll(`:is(${selector}):not([${attribute}])`))
      found.setAttribute(attribute, describe(found));
  };
  set("select", "aria-label", (select) => {
    const parameter = select.closest("[data-param-name]")?.getAttribute("data-param-name");
    return parameter ?? (select.matches(".content-type") ? "Media type" : "Example");
  });
  set(".information-container", "role", () => "banner");
  set("h3, .models > h4", "aria-level", () => "2");
  set("h4", "aria-level", () => "3");
  set("h5", "aria-level", () => "4");
  set("pre", "tabindex", () => "0");
}

SwaggerUIBundle({
  url: "/openapi.json",
  domNode,
  validatorUrl: null,
  tryItOutEnabled: true,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get", "post"],
  syntaxHighlight: false,
  plugins: [
    {
      wrapComponents: {
        ServersContainer: () => () => null, // there is one server: this one
        DeepLink: () => getText, // it is in a button, which changes the address, too
      },
    },
  ],
});

export {};
