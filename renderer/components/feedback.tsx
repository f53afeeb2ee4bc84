import { CircleAlert, type LucideIcon, RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ApiError } from '../../server/client/api-error.ts'
import { helpTopicForError } from '../lib/help-topic-for.ts'
import { HelpLink } from './help-link.tsx'
import { Button } from './button.tsx'
import { Contours } from './contours.tsx'
import { CopyText } from './copy.tsx'
import { Prose } from './prose.tsx'
import './feedback.css'

/** A placeholder of the size of the content that is loading. */
export function Skeleton({ width = '100%', height = '1em' }: { width?: string | number; height?: string | number }) {
  return <span className="skeleton" style={{ width, height }} aria-hidden />
}

/** Skeleton rows. Screen readers hear the loading state once. */
export function SkeletonRows({ rows, height }: { rows: number; height: number }) {
  return (
    <div role="status" className="skeleton-rows">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton-row" style={{ height }}>
          <Skeleton width={12} height={12} />
          <Skeleton width={`${34 - ((index * 7) % 16)}%`} height={12} />
          <Skeleton width={`${20 - ((index * 5) % 9)}%`} height={12} />
        </div>
      ))}
    </div>
  )
}

/** An empty state with its next action. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
  isPage = false,
}: {
  icon: LucideIcon
  title: string
  children: ReactNode
  action?: ReactNode
  /** The empty state is the whole page, so its title is the page heading. */
  isPage?: boolean
}) {
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="empty">
      <Contours />
      <span className="empty-icon">
        <Icon size={20} aria-hidden />
      </span>
      <Heading>{title}</Heading>
      <p className="text-muted">{children}</p>
      {action}
    </div>
  )
}

/** An error: message, code, request id and a retry. */
export function ProblemView({ problem, onRetry }: { problem: ApiError; onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <CircleAlert size={18} aria-hidden />
      <div>
        <p className="problem-text">
          <Prose text={problem.message} />
        </p>
        {problem.issues.map((issue) => (
          <p key={issue.path} className="text-muted">
            <code>{issue.path}</code> {issue.message}
          </p>
        ))}
        <p className="problem-code">
          <code>{problem.code}</code>
          {problem.request_id && <CopyText text={problem.request_id} />}
          <HelpLink topic={helpTopicForError(problem.code)} />
        </p>
      </div>
      {onRetry && (
        <Button icon={RotateCw} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
