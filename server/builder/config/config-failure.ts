import { DetectFailure } from '../detect-failure.ts'

/** A part of a file that cannot be used: its position, the reason and the fix. Each is a sentence. */
export interface ConfigProblem {
  /** From 1; null for the file as a whole. */
  line: number | null
  column: number | null
  /** Names the key, such as `services.web.port`, and says what is wrong. */
  message: string
  hint: string
}

/** A file of the source has parts that cannot be used. All problems of the file are collected, in the order of their lines. */
export class ConfigFailure extends DetectFailure {
  readonly file: string
  readonly problems: readonly ConfigProblem[]
  constructor(file: string, problems: readonly ConfigProblem[], cause?: unknown) {
    const sorted = problems
      .map((problem) => ({ ...problem, message: toLine(problem.message), hint: toLine(problem.hint) }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
    const texts = sorted.map(({ line, message }) => (line === null ? message : `Line ${line}: ${message}`))
    super(`${file} cannot be used. ${texts.join(' ')}`, [...new Set(sorted.map(({ hint }) => hint))].join(' '), cause)
    this.name = 'ConfigFailure'
    this.file = file
    this.problems = sorted
  }
}

/** Text of a file for one line of a log: control characters could forge further lines. */
export const toLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')

export interface Position {
  line: number
  column: number
}

/** Collects the problems and the notes of one file while it is read, so that all of them are shown at once. */
export class ConfigLog {
  readonly file: string
  readonly problems: ConfigProblem[] = []
  readonly notes: string[] = []
  readonly #noted = new Set<string>()
  constructor(file: string) {
    this.file = file
  }
  reject(at: Position | null, message: string, hint: string): void {
    // The same anchor may be used in many places.
    const isKnown = this.problems.some(
      (one) => one.line === at?.line && one.column === at.column && withoutService(one.message) === withoutService(message),
    )
    if (!isKnown && this.problems.length < maxProblems) this.problems.push({ line: at?.line ?? null, column: at?.column ?? null, message, hint })
  }
  /** A part without effect here, or with another meaning than a user may expect. */
  note(at: Position | null, text: string): void {
    const key = `${at?.line}:${withoutService(text)}`
    if (this.#noted.has(key) || this.notes.length >= maxNotes) return
    this.#noted.add(key)
    const sentence = toLine(text).replace(/\.$/, '')
    this.notes.push(at === null ? `${this.file}: ${sentence}` : `${this.file} line ${at.line}: ${sentence}`)
  }
  throwProblems(): void {
    if (this.problems.length > 0) throw new ConfigFailure(this.file, this.problems)
  }
}

const withoutService = (message: string): string => message.replace(/^services\.[\w-]+/, '')

const maxProblems = 100
const maxNotes = 200
