/** Nothing could be made of the source. `message` says what was looked for, `hint` what to do. */
export class DetectFailure extends Error {
  readonly code = 'detect_failed'
  readonly hint: string
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DetectFailure'
    this.hint = hint
  }
}
