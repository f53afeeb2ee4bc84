interface TextPart {
  text: string
  /** Whether the text is the ID of a request. */
  is_id: boolean
}

/** Splits a line at the IDs of logged requests in it. */
export function splitAtRequestIds(text: string): TextPart[] {
  if (!text.includes('req_')) return [{ text, is_id: false }]
  return text
    .split(/(?<![\w-])(req_[0-9a-z]{26})(?![\w-])/)
    .map((part, index) => ({ text: part, is_id: index % 2 === 1 }))
    .filter((part) => part.text !== '')
}
