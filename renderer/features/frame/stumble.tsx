import { Component, type ReactNode } from 'react'
import { problemFrom } from '../../api/problem.ts'
import { ProblemView } from '../../ui/feedback.tsx'

/** Catches what no page foresaw, so that a fault in one corner never leaves a blank window. */
export class Stumble extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null }

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override render() {
    if (this.state.error === null) return this.props.children
    return (
      <main style={{ padding: 40, maxWidth: 720 }}>
        <ProblemView problem={problemFrom(this.state.error)} onRetry={() => location.reload()} />
      </main>
    )
  }
}
