/** A sentence of the platform, in which names stand between backticks. Text only, whatever it says. */
export function Prose({ text }: { text: string }) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
