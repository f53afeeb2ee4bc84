import { useQueryClient } from '@tanstack/react-query'
import { Component, type ReactNode } from 'react'
import { toProblem } from '../../lib/api-problem.ts'
import { ProblemView } from '../../components/feedback.tsx'

interface Props {
  /** Where one is: another place is another try. */
  resetKey?: string
  /** What stands there instead; without it the problem itself. */
  fallback?: ReactNode
  children: ReactNode
}

/**
 * Catches what no page foresaw, so that a fault in one corner never leaves a blank window: above all an answer of a shape that is
 * none of the contract's.
 */
export class ErrorBoundary extends Component<Props, { error: unknown; resetKey: string | undefined }> {
  override state: { error: unknown; resetKey: string | undefined } = { error: null, resetKey: this.props.resetKey }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ resetKey }: Props, state: { resetKey: string | undefined }) {
    return resetKey === state.resetKey ? null : { error: null, resetKey }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    if (this.props.fallback !== undefined) return this.props.fallback
    return <ErrorFallback error={error} onRetry={() => this.setState({ error: null })} />
  }
}

function ErrorFallback({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const cache = useQueryClient()
  return (
    <div className="page">
      <ProblemView
        problem={toProblem(error)}
        onRetry={() => {
          // What was answered is asked for anew: with it the page would fall again.
          void cache.resetQueries()
          onRetry()
        }}
      />
    </div>
  )
}
