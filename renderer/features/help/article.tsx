import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { CopyButton } from '../../components/copy.tsx'
import { findTopic } from '../../../server/help/topics.ts'
import type { HelpBlock } from '../../../server/help/topic.ts'
import styles from './page.module.css'

/** The blocks of a help topic. */
export function Article({ blocks }: { blocks: readonly HelpBlock[] }) {
  return (
    <div className={styles.article}>
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  )
}

function BlockView({ block }: { block: HelpBlock }) {
  if (typeof block === 'string') return <p>{renderInline(block)}</p>
  if ('h' in block) return <h2>{block.h}</h2>
  if ('run' in block)
    return (
      <div className={styles.articleRun}>
        <code>{block.run}</code>
        <CopyButton text={block.run} label={`Copy: ${block.run}`} />
        {block.note && <span className="text-subtle">{block.note}</span>}
      </div>
    )
  if ('file' in block)
    return (
      <figure className={styles.articleFile}>
        <figcaption>
          <code>{block.file}</code>
          <CopyButton text={block.text} label={`Copy: ${block.file}`} />
        </figcaption>
        <pre tabIndex={0}>{block.text}</pre>
      </figure>
    )
  const lines = 'list' in block ? block.list : block.steps
  const items = lines.map((line, index) => <li key={index}>{renderInline(line)}</li>)
  return 'list' in block ? <ul>{items}</ul> : <ol>{items}</ol>
}

/** Inline markup: `names`, **strong**, [[topic]] and [[/path|text]]. */
function renderInline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[\[[^\]]+\]\])/).map((part, index) => {
    if (part.startsWith('`')) return <code key={index}>{part.slice(1, -1)}</code>
    if (part.startsWith('**')) return <strong key={index}>{part.slice(2, -2)}</strong>
    if (!part.startsWith('[[')) return part
    const [to = '', linkText] = part.slice(2, -2).split('|')
    return (
      <Link key={index} href={to.startsWith('/') ? to : `/help/${to}`}>
        {linkText ?? findTopic(to)?.title ?? to}
      </Link>
    )
  })
}
