/** A letter of the platform: plain text, to one person. */
export interface EmailMessage {
  to: string
  subject: string
  text: string
}

export interface EmailSender {
  /** Whether there is a mail server at all. */
  is_enabled: boolean
  /** Whether the mail server took it. Never throws: a letter that does not go out has a link that can be had in another way. */
  send(letter: EmailMessage): Promise<boolean>
  close(): void
}

/** Without a mail server. */
export const disabledEmailSender: EmailSender = { is_enabled: false, send: async () => false, close: () => {} }
