/** What selects a list in its region and window: a category or a language, or neither for all videos; never both. */
export type ListChoice = { category?: string | undefined; language?: string | undefined };

/** No category begins like this: writer/src/Observations/ObservationParser.php, with which a test compares it. */
const languageMark = "#language:";

/** A list's name as the database has it: "" for all videos, a category, or `#language:` with a language. */
export function listName({ category, language }: ListChoice): string {
  return language === undefined ? (category ?? "") : languageMark + language;
}

/** What the name of a list selects. */
export function choiceOf(name: string): ListChoice {
  if (name.startsWith(languageMark)) return { language: name.slice(languageMark.length) };
  return name === "" ? {} : { category: name };
}
