import { useQueryClient } from '@tanstack/react-query'
import { Component, type ReactNode } from 'react'
import { toApiError } from '../lib/api-error.ts'
import { ProblemView } from '../components/feedback.tsx'

interface Props {
  /** Resets the error when the location changes. */
  resetKey?: string
  /** Fallback content; the default is the error itself. */
  fallback?: ReactNode
  children: ReactNode
}

/**
 * Catches unexpected render errors, so that an error in one part never blanks the window. The main cause is a response that violates the contract.
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
        problem={toApiError(error)}
        onRetry={() => {
          // Cached data is dropped, because rendering it would fail again.
          void cache.resetQueries()
          onRetry()
        }}
      />
    </div>
  )
}
