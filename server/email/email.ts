/** A plain-text email to one person. */
export interface EmailMessage {
  to: string
  subject: string
  text: string
}

export interface EmailSender {
  /** Whether a mail server is configured. */
  is_enabled: boolean
  /** Returns whether the mail server accepted the message. Never throws, because every link in an email is also available in another way. */
  send(message: EmailMessage): Promise<boolean>
  close(): void
}

/** The sender without a mail server. */
export const disabledEmailSender: EmailSender = { is_enabled: false, send: async () => false, close: () => {} }
