import { SquareTerminal } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useCapabilities } from '../../api/capabilities.ts'
import type { CommandTarget } from '../../api/commands.ts'
import { useServingDeployment } from '../../api/deployments.ts'
import { useProject } from '../../api/projects.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { StatusBadge } from '../../components/status.tsx'
import { ApiError } from '../../../server/client/api-error.ts'
import { isApple } from '../../lib/key-chords.ts'
import { lazyWithRetry } from '../../lib/load-with-retry.ts'
import { useTitle } from '../../lib/use-title.ts'
import { TargetSelects } from '../logs/index.ts'
import { Introduction } from './introduction.tsx'
import { isOpen, shellBadge, type ShellState } from './shell-state.ts'
import styles from './terminal.module.css'

const TerminalScreenView = lazyWithRetry(() => import('./terminal-screen.tsx'))

interface OpenedShell {
  number: number
  target: CommandTarget
  ending: AbortController
}

/** A shell in the environment of a service. */
export default function TerminalPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Terminal · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  const target: CommandTarget = { slug, branch: params.get('branch'), service: params.get('service') }
  const { is_known, has_terminal } = useCapabilities()
  const { data: serving, isLoading: isLoadingServing } = useServingDeployment(slug)
  const [shell, setShell] = useState<OpenedShell | null>(null)
  const [state, setState] = useState<ShellState | null>(null)
  if (!is_known || isLoadingServing) return <SkeletonRows rows={6} height={64} />

  const isRunning = state !== null && isOpen(state)
  const open = () => {
    setShell({ number: (shell?.number ?? 0) + 1, target, ending: new AbortController() })
    setState({ name: 'starting' })
  }
  const canOpen = has_terminal && (serving !== null || target.branch !== null)
  return (
    <section className={`card ${styles.terminal}`} aria-labelledby="terminal">
      <header className={styles.tools}>
        <h2 id="terminal">Terminal</h2>
        {has_terminal && (
          <TargetSelects
            target={target}
            disabled={isRunning}
            onChange={({ branch, service }) =>
              setParams({ ...(branch !== null && { branch }), ...(service !== null && { service }) }, { replace: true })
            }
          />
        )}
        <div className={styles.buttons}>
          {isRunning ? (
            <Button onClick={() => shell?.ending.abort()}>End shell</Button>
          ) : (
            shell !== null && (
              <Button kind="primary" icon={SquareTerminal} onClick={open}>
                Open again
              </Button>
            )
          )}
        </div>
      </header>
      {shell === null ? (
        <div className={styles.empty}>
          <Introduction target={target} canOpen={canOpen} onOpen={open} />
        </div>
      ) : (
        <Suspense fallback={<div className={styles.screen} />}>
          <TerminalScreenView key={shell.number} target={shell.target} signal={shell.ending.signal} isRunning={isRunning} onState={setState} />
        </Suspense>
      )}
      {state !== null && <ShellFooter state={state} />}
    </section>
  )
}

/** The status of the shell, and how to leave it. */
function ShellFooter({ state }: { state: ShellState }) {
  const error = state.name === 'failed' ? state.error : null
  return (
    <footer className={styles.foot}>
      <div className={styles.state} role="status">
        <StatusBadge badge={shellBadge(state)} />
        {state.name === 'exited' && state.exit.out_of_memory && <span>The shell used more memory than the limit of its service.</span>}
        {error instanceof Error && !(error instanceof ApiError) && <span>{error.message}</span>}
      </div>
      {error instanceof ApiError && <ProblemView problem={error} />}
      {isOpen(state) && (
        <p className="text-subtle">
          Press <kbd>Esc</kbd>, then <kbd>Tab</kbd> to leave the terminal. Copy with {isApple ? '⌘ C' : 'Ctrl Shift C'}, paste with{' '}
          {isApple ? '⌘ V' : 'Ctrl Shift V'}.
        </p>
      )}
    </footer>
  )
}
