/** The source has no app that can be deployed. `message` names the files that detection looked for, `hint` says how to fix it. */
export class DetectFailure extends Error {
  readonly code = 'detect_failed'
  readonly hint: string
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DetectFailure'
    this.hint = hint
  }
}
