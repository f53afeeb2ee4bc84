import { PassThrough, Writable } from 'node:stream'
import type { ProgramIo } from '../../server/cli/attach-command.ts'
import type { TerminalSize } from '../../server/contract/command-frames.ts'
import { until } from './until.ts'

/** The terminal of a user, as a one-off command sees it. */
export function createFakeTerminal(size: TerminalSize = { columns: 100, rows: 30 }) {
  const keyboard = new PassThrough()
  const watchers = new Set<(size: TerminalSize) => void>()
  /** Every change of raw mode. */
  const raw: boolean[] = []
  let screen = ''
  const show = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        screen += chunk.toString()
        done()
      },
    })
  const io: ProgramIo = {
    input: keyboard,
    output: show(),
    errors: show(),
    terminal: {
      readSize: () => size,
      watchSize(onChange) {
        watchers.add(onChange)
        return () => void watchers.delete(onChange)
      },
      setRaw: (isRaw) => void raw.push(isRaw),
    },
  }
  return {
    io,
    raw,
    watchers,
    type: (text: string) => void keyboard.write(text),
    see: (text: string) =>
      until(
        () => {
          if (!screen.includes(text)) throw new Error(screen)
          return true
        },
        { what: `“${text}” on the screen` },
      ),
    resize(next: TerminalSize) {
      size = next
      for (const onChange of watchers) onChange(next)
    },
  }
}
