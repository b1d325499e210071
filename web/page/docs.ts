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
  plugins: { wrapComponents: Record<string, () => () => null> }[];
};

const { SwaggerUIBundle } = globalThis as unknown as { SwaggerUIBundle: (options: Options) => unknown };

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", prefersDark.matches);
prefersDark.addEventListener("change", applyScheme);
applyScheme();

SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("docs"),
  validatorUrl: null,
  tryItOutEnabled: true,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ["get", "post"],
  plugins: [{ wrapComponents: { ServersContainer: () => () => null } }], // there is one server: this one
});

export {};
