import { CircleHelp } from 'lucide-react'
import { Link } from 'wouter'
import type { HelpTopic } from '../../server/contract/help.ts'
import styles from './help-link.module.css'

/** A link to a help topic; renders nothing without one. */
export function HelpLink({ topic, children = 'How to fix it' }: { topic: HelpTopic | null | undefined; children?: string }) {
  if (!topic) return null
  return (
    <Link href={`/help/${topic}`} className={styles.helpLink}>
      <CircleHelp size={14} aria-hidden />
      {children}
    </Link>
  )
}
