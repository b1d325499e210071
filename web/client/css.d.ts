declare module "*.css" {
  const text: string;
  export = text;
}

declare module "*.json?list" {
  const words: import("./src/view/locales/locale.ts").ListMessages;

  export = words;
}

declare module "*.json?why" {
  const words: Omit<
    import("./src/view/locales/locale.ts").WhyMessages,
    keyof import("./src/view/locales/locale.ts").ListMessages
  >;

  export = words;
}

declare module "*.json?page" {
  const words: Omit<
    import("./src/view/locales/locale.ts").PageMessages,
    keyof import("./src/view/locales/locale.ts").ListMessages
  >;

  export = words;
}
