import type { TemplatePart, VariablePart } from '../../contract/environment-template.ts'

/** A text with variables in compose's notation, parsed: `$NAME`, `${NAME}`, `${NAME:-default}`, and `$$` for a dollar sign. */
export interface ParsedTemplate {
  parts: TemplatePart[]
  /** Required variables: `${NAME:?}`. */
  required: string[]
}

const maxNesting = 10

/** null when the text has an invalid `${`. */
export function parseTemplate(text: string): ParsedTemplate | null {
  const required: string[] = []
  const parser = { text, at: 0, required }
  const parts = parseParts(parser, 0)
  return parts === null || parser.at < text.length ? null : { parts, required }
}

interface TemplateParser {
  text: string
  at: number
  required: string[]
}

/** Parses up to the brace that closes the surrounding variable, or to the end. */
function parseParts(parser: TemplateParser, depth: number): TemplatePart[] | null {
  if (depth > maxNesting) return null
  const parts: TemplatePart[] = []
  let plain = ''
  const flush = () => {
    if (plain !== '') parts.push(plain)
    plain = ''
  }
  while (parser.at < parser.text.length) {
    const character = parser.text[parser.at] ?? ''
    if (character === '}' && depth > 0) break
    if (character !== '$') {
      plain += character
      parser.at += 1
      continue
    }
    const next = parser.text[parser.at + 1] ?? ''
    if (next === '$') {
      plain += '$'
      parser.at += 2
    } else if (next === '{') {
      parser.at += 2
      const variable = parseBraced(parser, depth)
      if (variable === null) return null
      flush()
      parts.push(variable)
    } else {
      const name = /^[A-Za-z_]\w*/.exec(parser.text.slice(parser.at + 1, parser.at + 300))?.[0]
      if (name === undefined) {
        // A dollar sign before anything else is text, as in a regular expression.
        plain += '$'
        parser.at += 1
      } else {
        flush()
        parts.push({ variable: name, operator: null, word: [] })
        parser.at += 1 + name.length
      }
    }
  }
  flush()
  return parts
}

function parseBraced(parser: TemplateParser, depth: number): VariablePart | null {
  const [whole, variable, operator] = /^([A-Za-z_]\w*)(:?[-+?])?/.exec(parser.text.slice(parser.at, parser.at + 300)) ?? []
  if (whole === undefined || variable === undefined) return null
  parser.at += whole.length
  const word = parseParts(parser, depth + 1)
  if (word === null || parser.text[parser.at] !== '}') return null
  parser.at += 1
  if (operator === undefined) return word.length === 0 ? { variable, operator: null, word } : null
  if (operator.endsWith('?')) {
    parser.required.push(variable)
    return { variable, operator: null, word: [] }
  }
  return { variable, operator: operator as VariablePart['operator'], word }
}

/** The text of a template without variables; null when it has one. */
export function asPlainText(parts: readonly TemplatePart[]): string | null {
  let text = ''
  for (const part of parts) {
    if (typeof part !== 'string') return null
    text += part
  }
  return text
}

/** Puts the values of a `.env` file into a template as defaults: a project variable of the same name still overrides them. */
export function addDefaults(parts: readonly TemplatePart[], defaults: ReadonlyMap<string, string>): TemplatePart[] {
  return parts.flatMap((part): TemplatePart[] => {
    if (typeof part === 'string') return [part]
    const { variable, operator } = part
    const value = defaults.get(variable)
    const word = addDefaults(part.word, defaults)
    if (value === undefined || (value === '' && operator?.startsWith(':'))) return [{ variable, operator, word }]
    if (operator === '+' || operator === ':+') return word
    return [{ variable, operator: operator ?? '-', word: value === '' ? [] : [value] }]
  })
}
