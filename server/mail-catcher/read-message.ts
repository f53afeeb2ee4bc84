import type { Attachment, ParsedMail } from 'mailparser'
import { mailLimits, type MailMessageDetails } from '../contract/mail.ts'

/** Parses a message. Never throws because of its content. */
export async function parseMessage(source: Buffer): Promise<ParsedMail> {
  const { simpleParser } = await import('mailparser')
  return simpleParser(source, { skipTextToHtml: true, maxHtmlLengthToParse: mailLimits.shown_html })
}

/** The fields of the list. */
export function summarize(mail: ParsedMail): { sender: string; subject: string; attachments: number } {
  return { sender: cut(mail.from?.text ?? '', 320), subject: cut(mail.subject ?? '', 500), attachments: listFiles(mail).length }
}

/** The parts of a message that a page shows. */
export async function presentMessage(mail: ParsedMail): Promise<Pick<MailMessageDetails, 'text' | 'html' | 'is_shortened' | 'headers' | 'files'>> {
  const html = mail.html || null
  const isLong = html !== null && html.length > mailLimits.shown_html
  const text = mail.text ?? null
  return {
    text: text === null ? null : text.slice(0, mailLimits.shown_text),
    html: html === null || isLong ? null : await createDocument(html),
    is_shortened: isLong || (text?.length ?? 0) > mailLimits.shown_text,
    headers: mail.headerLines.slice(0, 200).map(({ line }) => {
      const [name = '', ...rest] = line.split(':')
      return { name, value: cut(rest.join(':').replace(/\s+/g, ' ').trim(), 4_000) }
    }),
    files: listFiles(mail).map((file, index) => ({
      index,
      name: cut(file.filename?.trim() || `attachment-${index + 1}`, 200),
      content_type: cut(file.contentType, 200),
      size_bytes: file.size,
    })),
  }
}

export const readAttachment = (mail: ParsedMail, index: number): Buffer | undefined => listFiles(mail)[index]?.content

/** Without images that the text displays, because they are part of it. */
const listFiles = (mail: ParsedMail): Attachment[] => mail.attachments.filter(({ related }) => !related)

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

/** Forbids all requests in the frame that shows the document. */
const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"

/**
 * The parts of a message that may be shown, as a document: no scripts, forms, frames or remote content. Styles are kept, because the frame has no
 * origin, runs no scripts and cannot access the network.
 */
async function createDocument(html: string): Promise<string> {
  const { default: sanitize } = await import('sanitize-html')
  const body = sanitize(html, {
    allowedTags: [...sanitize.defaults.allowedTags, 'img', 'style', 'center', 'font', 'title', 'del', 'ins'],
    // Permits `style`, which cannot do more here than other styles.
    allowVulnerableTags: true,
    allowedAttributes: {
      '*': ['style', 'class', 'id', 'dir', 'lang', 'align', 'valign', 'width', 'height', 'bgcolor', 'color', 'border', 'title'],
      a: ['href', 'name', 'target', 'rel'],
      img: ['src', 'alt'],
      font: ['face', 'size'],
      table: ['cellpadding', 'cellspacing', 'role'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan', 'scope'],
    },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowedSchemesByTag: { img: ['data'] },
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    // A relative URL would refer to the dashboard.
    transformTags: { a: (tagName, { href = '', ...attribs }) => ({ tagName, attribs: { ...attribs, ...toLink(href) } }) },
  })
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><style>html{background:#fff;color:#111;font:14px/1.5 sans-serif}body{margin:16px;overflow-wrap:anywhere}img{max-width:100%;height:auto}</style></head><body>${body}</body></html>`
}

const toLink = (href: string): Record<string, string> =>
  /^(https?:|mailto:|tel:)/i.test(href.trim()) ? { href: href.trim(), target: '_blank', rel: 'noopener noreferrer' } : {}
