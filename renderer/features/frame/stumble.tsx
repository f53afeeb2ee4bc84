import { useQueryClient } from '@tanstack/react-query'
import { Component, type ReactNode } from 'react'
import { problemFrom } from '../../api/problem.ts'
import { ProblemView } from '../../ui/feedback.tsx'

interface Props {
  /** Where one is: another place is another try. */
  at?: string
  /** What stands there instead; without it the problem itself. */
  fallback?: ReactNode
  children: ReactNode
}

/**
 * Catches what no page foresaw, so that a fault in one corner never leaves a blank window: above all an answer of a shape that is
 * none of the contract's.
 */
export class Stumble extends Component<Props, { error: unknown; at: string | undefined }> {
  override state: { error: unknown; at: string | undefined } = { error: null, at: this.props.at }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  static getDerivedStateFromProps({ at }: Props, state: { at: string | undefined }) {
    return at === state.at ? null : { error: null, at }
  }

  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    if (this.props.fallback !== undefined) return this.props.fallback
    return <Fallen error={error} onRetry={() => this.setState({ error: null })} />
  }
}

function Fallen({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const cache = useQueryClient()
  return (
    <div className="page">
      <ProblemView
        problem={problemFrom(error)}
        onRetry={() => {
          // What was answered is asked for anew: with it the page would fall again.
          void cache.resetQueries()
          onRetry()
        }}
      />
    </div>
  )
}
