import type { BuildSettings } from '../../server/contract/build-plan.ts'

export type Runtime = 'process' | 'docker'

/** What a user reads of a deployment that failed; durations as `N s`. */
export interface FailureMessage {
  message: string
  hint: string
}

/** A request at the edge and what comes of it. */
export interface ExpectedResponse {
  path: string
  status?: number
  /** A part of the body. */
  contains?: string
  headers?: Record<string, string>
}

/** A real project with one thing about it that must work, or that must fail with a sentence. */
export interface TestCase {
  name: string
  /** A folder beside this file that the project begins as. */
  base?: string
  /** Written into it; null removes a file. */
  files?: Record<string, string | null>
  settings?: Partial<BuildSettings>
  /** Where it can be: everywhere, unless this says otherwise. */
  runtimes?: readonly Runtime[]
  /** Repositories beside it that it holds as submodules, by path. */
  submodules?: Record<string, Record<string, string>>
  /** The exact sentences; a list holds what different machines say (one with a way to the registry, one without). */
  fails?: FailureMessage | Partial<Record<Runtime, readonly FailureMessage[]>>
  /** Parts of lines of its build log. */
  logs?: Partial<Record<Runtime, string>> | string
  answers?: readonly ExpectedResponse[]
  /** The advice of the sentence, followed; `answers` hold afterwards. */
  advice?: { settings?: Partial<BuildSettings>; database?: true }
}
