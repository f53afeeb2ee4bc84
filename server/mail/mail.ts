/** A letter of the platform: plain text, to one person. */
export interface Letter {
  to: string
  subject: string
  text: string
}

export interface Mail {
  /** Whether there is a mail server at all. */
  is_on: boolean
  /** Whether the mail server took it. Never throws: a letter that does not go out has a link that can be had in another way. */
  send(letter: Letter): Promise<boolean>
  close(): void
}

/** Without a mail server. */
export const noMail: Mail = { is_on: false, send: async () => false, close: () => {} }
