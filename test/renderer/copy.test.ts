import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, test } from 'vitest'
import { root } from '../runner/command.ts'
import { listFiles } from '../runner/imports.ts'

interface Node {
  type: string
  start: number
  [field: string]: unknown
}

interface Text {
  text: string
  /** `path:line`, as in an error message. */
  at: string
}

interface Copy {
  /** Everything that reads like prose: JSX text and string literals of several words. */
  sentences: Text[]
  /** Texts of buttons and menu items. */
  buttons: Text[]
  /** Texts of headings, and titles of dialogs and empty states. */
  headings: Text[]
}

/** Words from earlier versions and literary phrases that no user should read. */
const bannedWords: RegExp[] = [
  /\b(bring|brings|brought) (in|back|along|here)\b/i,
  /\bmend(s|ed|ing)?\b/i,
  /\b(it|that|which|file|key|dump|folder|source|app) (lies|stands)\b/i,
  /\bat hand\b/i,
  /\b(in|out of|into) service\b/i,
  /\bby hand\b/i,
  /\b(renews?|starts?|downloads?|updates?|ends?) by itself\b/i,
  /\b(yard|city|graves?|shelf)\b/i,
  /\b(gate|desk)\b/i,
  /\b(whoever|whomever|somebody)\b/i,
  /\b(goes|gone) for good\b/i,
  /\b(lets?|comes?|takes?) in\b/i,
  /\btakes? (it|them|this|that|one) (away|back)\b/i,
  /\bleads? (here|there|to it)\b/i,
  /\blooks? again\b/i,
  /\bsays? so\b/i,
  /\bwhat (serves|runs|ails)\b/i,
  /\b(colour|behaviour|cancelled)\b/i,
  /\b(ledgers?|verdicts?|passage|parked|tally)\b/i,
  /\b(some|any|every|no)body\b/i,
  /\bbesides?(?! `)\b/i,
  /\bof (its|their) own\b(?! \w)/i,
  /\bin place of\b/i,
  /\b(meanwhile|anew|for ever)\b/i,
  /\b(goes|go) on\b/i,
  /\b(begins?) (with|empty)\b/i,
  /\bas (it is|they are)(?! (now|shown))\b/i,
  /\bfurther (ports?|services?|names?)\b/i,
  /\b(hears?|heard|told|tells?) of\b/i,
  /\bnot (asked|looked) (after|at|for)\b/i,
  /\b(put|goes|gone|come|came) (back|away|there)\b/i,
]

/** Names that keep their capital letter within a sentence. */
const properNames = new Set(
  ['Account', 'Cache-Status', 'Desktop', 'Docker', 'Git', 'Health', 'Help', 'Homeport', 'Instance', 'Next.js', 'Node', 'Node.js'].concat([
    'PostgreSQL',
    'Starter',
    'Stripe',
    'X-Cache',
    'PostgreSQL’s',
  ]),
)

const buttonElements = new Set(['Button', 'ButtonLink', 'MenuItem', 'ChooseArchiveButton'])
const headingElements = new Set(['h1', 'h2', 'h3'])
const titledElements = new Set(['Dialog', 'ConfirmByNameDialog', 'EmptyState'])
/** Attributes whose values users never read. */
const codeAttributes = new Set(['className', 'id', 'key', 'href', 'd', 'viewBox', 'style', 'autoComplete', 'preserveAspectRatio'])
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function readCopy(file: string): Copy {
  const source = readFileSync(join(root, file), 'utf8')
  const copy: Copy = { sentences: [], buttons: [], headings: [] }
  const at = ({ start }: Node) => `${file}:${source.slice(0, start).split('\n').length}`
  const collapse = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

  function literalText(node: Node): string | null {
    if (node.type === 'JSXText' || (node.type === 'Literal' && typeof node['value'] === 'string')) return collapse(node['value'] as string)
    if (node.type !== 'TemplateLiteral') return null
    return collapse((node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…'))
  }

  /** The JSX text directly inside an element; expressions become an ellipsis. */
  const elementText = (node: Node) =>
    collapse((node['children'] as Node[]).map((child) => (child.type === 'JSXText' ? (child['value'] as string) : '…')).join(''))

  function walk(node: Node): void {
    if (node.type === 'ImportDeclaration' || node.type.startsWith('TSType') || node.type === 'TSInterfaceDeclaration') return
    if (node.type === 'JSXAttribute' && codeAttributes.has((node['name'] as { name: string }).name)) return
    if (node.type === 'JSXElement') {
      const opening = node['openingElement'] as { name: { name?: string }; attributes: Node[] }
      const name = opening.name.name ?? ''
      const text = elementText(node)
      if (buttonElements.has(name) && /[a-z]/i.test(text)) copy.buttons.push({ text, at: at(node) })
      if (headingElements.has(name) && /[a-z]/i.test(text)) copy.headings.push({ text, at: at(node) })
      if (titledElements.has(name))
        for (const attribute of opening.attributes) {
          const value = (attribute['name'] as { name?: string } | undefined)?.name === 'title' ? attribute['value'] : null
          const title = isNode(value) ? literalText(value) : null
          if (title) copy.headings.push({ text: title, at: at(attribute) })
        }
    }
    const text = literalText(node)
    if (text !== null && /[a-z,.;:] [a-z]/i.test(text)) copy.sentences.push({ text, at: at(node) })
    for (const value of Object.values(node))
      if (isNode(value)) walk(value)
      else if (Array.isArray(value)) value.filter(isNode).forEach(walk)
  }
  walk(parseSync(file, source).program as unknown as Node)
  return copy
}

/** All of the program: screens, commands, errors, help topics, emails, descriptions of operations, and the desktop. SQL is no text. */
const sources = listFiles().filter((file) => /^(renderer|server(?!\/store\/migrations)|main|preload)\/.*\.(tsx?|mjs)$/.test(file))
const copies = sources.map(readCopy)
/** Every line of the samples, because users read their code too. */
const sampleLines = listFiles()
  .filter((file) => file.startsWith('resources/samples/'))
  .flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((text, index) => ({ text, at: `${file}:${index + 1}` })),
  )
const sentences = [...copies.flatMap((copy) => copy.sentences), ...sampleLines]
const buttons = copies.flatMap((copy) => copy.buttons)
const headings = copies.flatMap((copy) => copy.headings)
const list = (texts: Text[]) => texts.map(({ at, text }) => `${at} ${text}`)

/** Whether a word other than the first starts with a capital letter and is neither a proper name nor the start of a sentence. */
function isTitleCase(text: string): boolean {
  const words = text.split(' ')
  return words.some((word, index) => {
    const previous = words[index - 1]
    if (previous === undefined || /[.:?!“…]$/.test(previous) || /^[“(]/.test(word)) return false
    const plain = word.replace(/[.,:;?!…]+$/, '')
    return /^[A-Z][a-z]/.test(plain) && !properNames.has(plain)
  })
}

describe('user-visible text', () => {
  test('is found', () => {
    expect(sentences.length).toBeGreaterThan(900)
    expect(buttons.length).toBeGreaterThan(90)
    expect(headings.length).toBeGreaterThan(70)
  })

  test.each(bannedWords)('does not contain %s', (pattern) => {
    expect(list(sentences.filter(({ text }) => pattern.test(text)))).toEqual([])
  })

  test('has headings and buttons in sentence case', () => {
    expect(list([...headings, ...buttons].filter(({ text }) => isTitleCase(text)))).toEqual([])
  })

  test('has no full stop at the end of a button or a heading', () => {
    expect(list([...headings, ...buttons].filter(({ text }) => /[^.]\.$/.test(text)))).toEqual([])
  })

  test('starts buttons and headings with a capital letter', () => {
    expect(list([...headings, ...buttons].filter(({ text }) => /^[a-z]/.test(text)))).toEqual([])
  })
})
