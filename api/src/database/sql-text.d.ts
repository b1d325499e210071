declare module "*.sql" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: this is how Bun exports an imported text file
  export default text;
}
