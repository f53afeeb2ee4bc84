import { closeSync, constants, openSync } from 'node:fs'
import { platform } from 'node:os'
import { type Readable, Writable } from 'node:stream'
import type { TerminalSize } from '../../contract/command-frames.ts'
import { StartFailure } from '../runtime.ts'

/** A pseudo-terminal: a program has one side, its user the other. */
export interface PseudoTerminal {
  /** Such as `/dev/pts/3`. */
  path: string
  /** For the standard input and output of the program. */
  program_fd: number
  /** Must be called once the program has `program_fd`. */
  releaseProgramSide(): void
  /** The output of the program. Ends with an error when no program has the terminal open. */
  screen: Readable
  /** The user's input; its end is Ctrl-D. */
  keyboard: Writable
  resize(size: TerminalSize): void
  close(): void
}

/** What its types leave out: a terminal without a program. */
declare module '@lydell/node-pty' {
  function open(options: { cols: number; rows: number; encoding: null }): {
    ptsName: string
    master: Readable & Writable
    slave: { destroy(): void }
    resize(columns: number, rows: number): void
  }
}

const endOfInput = '\x04'

export async function openTerminal({ columns, rows }: TerminalSize): Promise<PseudoTerminal> {
  if (platform() === 'win32')
    throw new StartFailure(
      'start_failed',
      'Without Docker, terminals are not available on Windows.',
      'Run the command without a terminal, or use Docker.',
    )
  // Loaded here, because it is native code that only a terminal needs.
  const { open } = await import('@lydell/node-pty')
  // Without an encoding it yields bytes.
  const pty = open({ cols: columns, rows, encoding: null })
  // node-pty reads its slave side; this one belongs only to the program.
  const program_fd = openSync(pty.ptsName, constants.O_RDWR | constants.O_NOCTTY)
  pty.slave.destroy()
  pty.master.on('error', () => {})
  pty.master.pause()
  let isClosed = false
  return {
    path: pty.ptsName,
    program_fd,
    releaseProgramSide: () => closeSync(program_fd),
    screen: pty.master,
    keyboard: new Writable({
      write: (chunk, _encoding, done) => (isClosed ? done() : void pty.master.write(chunk, () => done())),
      final: (done) => (isClosed ? done() : void pty.master.write(endOfInput, () => done())),
    }),
    resize(size) {
      if (!isClosed && !pty.master.destroyed) pty.resize(size.columns, size.rows)
    },
    close() {
      isClosed = true
      pty.master.destroy()
    },
  }
}
