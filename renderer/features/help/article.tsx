import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { CopyButton } from '../../ui/copy.tsx'
import { findTopic } from '../../../server/help/topics.ts'
import type { Block } from '../../../server/help/topic.ts'

/** The parts of an article, one under the other. */
export function Article({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className="article">
      {blocks.map((block, index) => (
        <Part key={index} block={block} />
      ))}
    </div>
  )
}

function Part({ block }: { block: Block }) {
  if (typeof block === 'string') return <p>{inline(block)}</p>
  if ('h' in block) return <h2>{block.h}</h2>
  if ('run' in block)
    return (
      <div className="article-run">
        <code>{block.run}</code>
        <CopyButton text={block.run} label={`Copy: ${block.run}`} />
        {block.note && <span className="faint">{block.note}</span>}
      </div>
    )
  const lines = 'list' in block ? block.list : block.steps
  const items = lines.map((line, index) => <li key={index}>{inline(line)}</li>)
  return 'list' in block ? <ul>{items}</ul> : <ol>{items}</ol>
}

/** `names`, **stressed words**, [[topic]] and [[/address|words]]. */
function inline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[\[[^\]]+\]\])/).map((part, index) => {
    if (part.startsWith('`')) return <code key={index}>{part.slice(1, -1)}</code>
    if (part.startsWith('**')) return <strong key={index}>{part.slice(2, -2)}</strong>
    if (!part.startsWith('[[')) return part
    const [to = '', words] = part.slice(2, -2).split('|')
    return (
      <Link key={index} href={to.startsWith('/') ? to : `/help/${to}`}>
        {words ?? findTopic(to)?.title ?? to}
      </Link>
    )
  })
}
