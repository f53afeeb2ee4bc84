import { SquareTerminal } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useCapabilities } from '../../api/capabilities.ts'
import type { CommandTarget } from '../../api/commands.ts'
import { useServingDeployment } from '../../api/deployments.ts'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import { useServices } from '../../api/services.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, Skeleton, SkeletonRows } from '../../components/feedback.tsx'
import { HelpLink } from '../../components/help-link.tsx'
import { StatusBadge } from '../../components/status.tsx'
import { ApiError } from '../../../server/client/api-error.ts'
import { isApple } from '../../lib/key-chords.ts'
import { lazyWithRetry } from '../../lib/load-with-retry.ts'
import { useTitle } from '../../lib/use-title.ts'
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
          <TargetFields
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
          <TerminalIntroduction target={target} canOpen={canOpen} onOpen={open} />
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

interface TargetFieldsProps {
  target: CommandTarget
  disabled: boolean
  onChange(target: CommandTarget): void
}

function TargetFields({ target, disabled, onChange }: TargetFieldsProps) {
  const { slug, branch, service } = target
  const { data: previews, isLoading } = usePreviews(slug)
  const { data: services, isLoading: isLoadingServices } = useServices(slug, branch)
  const branches = [...new Set([...(branch === null ? [] : [branch]), ...(previews ?? []).map((preview) => preview.branch)])]
  const others = [
    ...new Set([...(service === null ? [] : [service]), ...(services?.services ?? []).filter(({ is_main }) => !is_main).map(({ name }) => name)]),
  ]
  if (isLoading || isLoadingServices) return <Skeleton width={138} height={36} />
  return (
    <>
      {branches.length > 0 && (
        <select
          className="input select"
          aria-label="Environment"
          disabled={disabled}
          value={branch ?? ''}
          onChange={({ target: { value } }) => onChange({ slug, branch: value === '' ? null : value, service: null })}
        >
          <option value="">Production</option>
          {branches.map((one) => (
            <option key={one} value={one}>
              Preview of {one}
            </option>
          ))}
        </select>
      )}
      {others.length > 0 && (
        <select
          className="input select"
          aria-label="Service"
          disabled={disabled}
          value={service ?? ''}
          onChange={({ target: { value } }) => onChange({ slug, branch, service: value === '' ? null : value })}
        >
          <option value="">Main service</option>
          {others.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
    </>
  )
}

function TerminalIntroduction({
  target: { slug, branch, service },
  canOpen,
  onOpen,
}: {
  target: CommandTarget
  canOpen: boolean
  onOpen: () => void
}) {
  const { has_terminal, has_instance_api } = useCapabilities()
  if (!has_terminal)
    return (
      <EmptyState icon={SquareTerminal} title="No terminal on this instance">
        {has_instance_api ? (
          <>
            The dashboard opens shells only on the instance that it was opened on. On a command line of the other one, run{' '}
            <code>homeport shell {slug}</code>.
          </>
        ) : (
          'A hosted account does not run one-off commands.'
        )}
      </EmptyState>
    )
  if (!canOpen)
    return (
      <EmptyState icon={SquareTerminal} title="No version is live">
        A shell runs beside the live version. Deploy the project, then open it here.
      </EmptyState>
    )
  const where = `${service ?? 'the main service'}${branch === null ? '' : ` in the preview of ${branch}`}`
  return (
    <EmptyState
      icon={SquareTerminal}
      title="Open a shell"
      action={
        <>
          <Button kind="primary" icon={SquareTerminal} onClick={onOpen}>
            Open shell
          </Button>
          <HelpLink topic="commands">About shells and one-off commands</HelpLink>
        </>
      }
    >
      It runs in a new replica of {where}, beside the live version, with its files, variables, database and volumes. Files that it writes outside of a
      volume are deleted with it.
    </EmptyState>
  )
}

/** Over a network problem the code says less than the sentence. */
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
