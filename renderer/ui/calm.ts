// What turns the direction of a line, and what no screen draws: of a name that stands inside a sentence, it would reach beyond the name.
// oxlint-disable-next-line no-control-regex -- those are what is meant
const unseen = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g
const longest = 400

/** A sentence with a name of an instance in it, as it may be shown: without control characters, and of a length that can be read. */
export function calm(text: string): string {
  const quiet = text.replace(unseen, '\uFFFD')
  return quiet.length > longest ? `${quiet.slice(0, longest)}…` : quiet
}
