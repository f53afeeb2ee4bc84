import { useEffect, useRef } from 'react'
import { type CommandTarget, runShell } from '../../api/commands.ts'
import { useClient } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { createScreen, type TerminalScreen } from './create-screen.ts'
import type { ShellState } from './shell-state.ts'
import styles from './terminal.module.css'

/** Keys that a phone keyboard does not have. */
const touchKeys = [
  { label: 'Esc', keys: '\x1b' },
  { label: 'Tab', keys: '\t' },
  { label: 'Ctrl C', keys: '\x03' },
  { label: 'Ctrl D', keys: '\x04' },
  { label: '↑', name: 'Up', keys: '\x1b[A' },
  { label: '↓', name: 'Down', keys: '\x1b[B' },
]

interface Props {
  target: CommandTarget
  isRunning: boolean
  /** When aborted, the shell must end; its output stays. */
  signal: AbortSignal
  onState(state: ShellState): void
}

/** A shell from start to end. A separate chunk, because the emulator is larger than the rest of the page. */
export default function TerminalScreenView({ target, isRunning, signal, onState }: Props) {
  const client = useClient()
  const element = useRef<HTMLDivElement>(null)
  const screenRef = useRef<TerminalScreen>(null)
  useEffect(() => {
    if (!element.current) return
    const screen = createScreen(element.current)
    const unmounted = new AbortController()
    screenRef.current = screen
    let wasRunning = false
    const report = (state: ShellState) => {
      if (!unmounted.signal.aborted) onState(state)
    }
    const end = (state: ShellState) => {
      if (unmounted.signal.aborted) return
      screen.end()
      report(state)
    }
    runShell(
      client,
      target,
      () => screen.size,
      {
        onStarted(session) {
          // The size may have changed while the shell was starting.
          session.resize(screen.size)
          screen.onResize((size) => session.resize(size))
          screen.onInput((input) => void session.write(input))
          screen.focus()
          wasRunning = true
          report({ name: 'running' })
        },
        onOutput: (data) => screen.write(data),
      },
      AbortSignal.any([signal, unmounted.signal]),
    ).then(
      (exit) => end({ name: 'exited', exit }),
      (error: unknown) => end(signal.aborted ? { name: 'closed' } : { name: 'failed', error, was_running: wasRunning }),
    )
    return () => {
      unmounted.abort()
      screen.dispose()
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a shell keeps its target; the page mounts another view for the next one
  }, [])

  return (
    <>
      <div className={styles.screen} ref={element} data-testid="terminal-screen" />
      {isRunning && (
        <div className={styles.touchKeys} role="group" aria-label="Keys">
          {touchKeys.map(({ label, name, keys }) => (
            <Button key={label} aria-label={name} onClick={() => screenRef.current?.type(keys)}>
              {label}
            </Button>
          ))}
        </div>
      )}
    </>
  )
}
