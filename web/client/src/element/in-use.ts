/** Whether a visitor would lose something when another list took the place of the `pages` that an element shows. */
export function isInUse(element: HTMLElement, { pages }: { pages: number }): boolean {
  const isOpen = element.shadowRoot?.querySelector("details[open]") !== null;
  return pages > 1 || isOpen || element.matches(":hover, :focus-within");
}
