/** A sentence from the platform, with names between backticks shown as code. Always rendered as text. */
export function Prose({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
