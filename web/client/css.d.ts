declare module "*.css" {
  const text: string;
  export = text;
}
