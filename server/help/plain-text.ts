import { type HelpBlock, type HelpArticle } from './topic.ts'
import { findTopic } from './topics.ts'

/** Formats a topic for a terminal in lines of at most `width` columns. Commands are never wrapped. */
export function formatPlainText({ title, body }: HelpArticle, width: number): string {
  return [title, ...body.map((block) => formatBlock(block, width))].join('\n\n').replaceAll(/(?<=\n {4}\S.*)\n\n(?= {4}\S)/g, '\n')
}

function formatBlock(block: HelpBlock, width: number): string {
  if (typeof block === 'string') return wrapText(formatInline(block), width)
  if ('h' in block) return block.h
  if ('run' in block) return `    ${block.run}${block.note === undefined ? '' : `   # ${formatInline(block.note)}`}`
  if ('file' in block) return [`    # ${block.file}`, ...block.text.split('\n').map((line) => `    ${line}`)].join('\n')
  const items = 'list' in block ? block.list.map((line) => ['- ', line] as const) : block.steps.map((line, at) => [`${at + 1}. `, line] as const)
  return items.map(([mark, line]) => mark + wrapText(formatInline(line), width - mark.length, ' '.repeat(mark.length))).join('\n')
}

/** Keeps code, drops bold marks, writes a link to a topic as the command that prints it and a link to a dashboard page as its text. */
const formatInline = (text: string): string =>
  text
    .replaceAll(/\*\*([^*]+)\*\*/g, '$1')
    .replaceAll(/(\()?\[\[([^\]|]+)\|?([^\]]*)\]\]/g, (_, bracket: string | undefined, to: string, words: string) => {
      if (to.startsWith('/')) return (bracket ?? '') + words
      const command = `homeport help ${to}`
      // A link in brackets needs no title, because its sentence says what it is about.
      return bracket === undefined ? `${words || findTopic(to)?.title || to} (${command})` : `${bracket}${command}`
    })

function wrapText(text: string, width: number, indent = ''): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join(`\n${indent}`)
}
