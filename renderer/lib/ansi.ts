/** A run of text in one style. `look` holds class names of features/logs/ansi.css. */
export interface StyledSpan {
  text: string
  look: string
}

// oxlint-disable-next-line no-control-regex -- this file parses control characters
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
// Colors and cursor movement (CSI), titles and links (OSC and similar), and two-character sequences.
// oxlint-disable-next-line no-control-regex -- see above
const escapeSequence = /\u001b(?:\[([0-9:;?]*)[ -/]*([@-~])|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/y

// oxlint-disable-next-line no-control-regex -- see above
const colourCode = /\u001b\[[0-9:;]*m/g

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const tabWidth = 8

/** The final state of a line in a terminal: colors are kept, text overwritten after a carriage return is removed. Links lose their target. */
export function parseAnsi(line: string): StyledSpan[] {
  if (!controlCharacter.test(line)) return [{ text: line, look: '' }]
  const cells: { text: string; look: string }[] = []
  const style = createSgrState()
  let column = 0
  const put = (text: string) => {
    while (cells.length < column) cells.push({ text: ' ', look: '' })
    cells[column++] = { text, look: style.look }
  }
  for (let at = 0; at < line.length;) {
    const text = String.fromCodePoint(line.codePointAt(at) ?? 0)
    if (text === '\u001b') {
      escapeSequence.lastIndex = at
      const [all, parameters = '', verb] = escapeSequence.exec(line) ?? [text]
      at += all.length
      const count = Number.parseInt(parameters, 10) || 0
      if (verb === 'm') style.take(parameters)
      else if (verb === 'K' && count === 0) cells.length = Math.min(cells.length, column)
      else if (verb === 'K' && count === 2) cells.length = 0
      else if (verb === 'G') column = Math.min(Math.max(count, 1) - 1, 1_000)
      else if (verb === 'D') column = Math.max(0, column - Math.max(count, 1))
      else if (verb === 'C') column = Math.min(column + Math.max(count, 1), cells.length + 1_000)
      continue
    }
    at += text.length
    if (text === '\r') column = 0
    else if (text === '\b') column = Math.max(0, column - 1)
    else if (text === '\t') for (const stop = column + tabWidth - (column % tabWidth); column < stop;) put(' ')
    else if (!controlCharacter.test(text)) put(text)
  }
  return mergeSpans(cells)
}

/** The plain text of a line, to search, copy and measure. */
export function stripAnsi(line: string): string {
  if (!controlCharacter.test(line)) return line
  // Fast path, because searching runs over a hundred thousand lines of which nearly all contain only colors.
  const uncoloured = line.replace(colourCode, '')
  if (!controlCharacter.test(uncoloured)) return uncoloured
  return parseAnsi(line)
    .map(({ text }) => text)
    .join('')
}

function mergeSpans(cells: StyledSpan[]): StyledSpan[] {
  const spans: StyledSpan[] = []
  for (const { text, look } of cells) {
    const last = spans.at(-1)
    if (last && last.look === look) last.text += text
    else spans.push({ text, look })
  }
  return spans
}

/** Tracks the current style of the color codes (SGR). */
function createSgrState() {
  let foreground = ''
  let background = ''
  const flags = new Set<string>()
  const style = {
    look: '',
    take(parameters: string) {
      const codes = parameters === '' ? [0] : parameters.split(/[:;]/).map(Number)
      for (let index = 0; index < codes.length; index++) {
        const code = codes[index] ?? 0
        if (code === 0) {
          foreground = background = ''
          flags.clear()
        } else if (code === 38 || code === 48) {
          const [colour, used] = mapExtendedColour(codes.slice(index + 1))
          index += used
          if (code === 38) foreground = colour && `ink-${colour}`
          else background = colour && `ground-${colour}`
        } else if (code === 39) foreground = ''
        else if (code === 49) background = ''
        else if (code === 22) for (const flag of ['bold', 'dim']) flags.delete(flag)
        else if (code === 23) flags.delete('italic')
        else if (code === 24) flags.delete('underline')
        else if (code === 27) flags.delete('inverse')
        else if (flagCodes[code]) flags.add(flagCodes[code])
        else if ((code >= 30 && code < 38) || (code >= 90 && code < 98)) foreground = `ink-${colours[code % 10]}`
        else if ((code >= 40 && code < 48) || (code >= 100 && code < 108)) background = `ground-${colours[code % 10]}`
      }
      style.look = [foreground, background, ...flags].filter(Boolean).join(' ')
    },
  }
  return style
}

const flagCodes: Record<number, string> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse' }

/**
 * Maps 256 colors and true colors to the eight colors of the theme, because apps choose colors for an unknown background and lines must be readable
 * in light and dark mode.
 */
function mapExtendedColour(codes: number[]): [colour: string, used: number] {
  if (codes[0] === 2) return [nearestThemeColour(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4]
  const index = codes[1] ?? 0
  if (index < 16) return [colours[index % 8] ?? '', 2]
  if (index >= 232) return ['', 2]
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return [nearestThemeColour(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), 2]
}

function nearestThemeColour(red: number, green: number, blue: number): string {
  const high = Math.max(red, green, blue)
  const spread = high - Math.min(red, green, blue)
  if (spread < 36) return ''
  const sixth = high === red ? ((green - blue) / spread + 6) % 6 : high === green ? (blue - red) / spread + 2 : (red - green) / spread + 4
  return (['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'] as const)[Math.round(sixth) % 6] ?? ''
}
