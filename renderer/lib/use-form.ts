import { type FormEvent, useState } from 'react'
import type { ApiError } from '../../server/client/api-error.ts'

interface FormOptions<Values extends object> {
  /** Current values, or those of an empty form. */
  initial: Values
  /** The mutation that the form sends; without one, the form decides something on its page. */
  submission?: { isPending: boolean; error: ApiError | null; reset(): void }
  onSubmit: (values: Values) => void
  /** Validates before sending. `wasSubmitted`: empty fields are errors as well. */
  check?: (values: Values, wasSubmitted: boolean) => { [Name in keyof Values]?: string | undefined }
  /** The field for an error without a path. */
  fieldOf?: (problem: ApiError) => keyof Values | false
}

type NamesOf<Values, Type> = { [Name in keyof Values]: Values[Name] extends Type ? Name : never }[keyof Values]

const noSubmission = { isPending: false, error: null, reset() {} }

/** The state of a form: values, submit, busy, and errors at their fields. Typing clears the error of the last submission. */
export function useForm<Values extends object>({ initial, submission = noSubmission, onSubmit, check, fieldOf }: FormOptions<Values>) {
  const [changes, setChanges] = useState<Partial<Values>>({})
  const [wasSubmitted, setSubmitted] = useState(false)
  const values: Values = { ...initial, ...changes }
  const problem = submission.error
  const found = check?.(values, wasSubmitted)

  const set = (patch: Partial<Values>) => {
    if (problem) submission.reset()
    setChanges((before) => {
      const next = { ...before, ...patch }
      for (const name in next) if (next[name] === initial[name]) delete next[name]
      return next
    })
  }
  const error = (name: keyof Values & string): string | undefined =>
    problem?.issues.find(({ path }) => path === name || path.startsWith(`${name}.`))?.message ??
    (problem && fieldOf?.(problem) === name ? problem.message : found?.[name])

  return {
    values,
    /** The values that differ from the initial ones. */
    changes,
    is_dirty: Object.keys(changes).length > 0,
    set,
    discard() {
      submission.reset()
      setChanges({})
    },
    error,
    /** The error of the last submission, if no field shows it. */
    problem: problem && !Object.keys(values).some((name) => error(name as keyof Values & string)) ? problem : null,
    is_busy: submission.isPending,
    /** For `<form>`. */
    props: {
      onSubmit(event: FormEvent) {
        event.preventDefault()
        setSubmitted(true)
        const isInvalid = Object.values(check?.(values, true) ?? {}).some((message) => message !== undefined)
        if (!isInvalid && !submission.isPending) onSubmit(values)
      },
    },
    /** For a text field or a select. */
    text: <Name extends NamesOf<Values, string> & string>(name: Name, normalize = (text: string) => text) => ({
      value: values[name],
      onChange: ({ target }: { target: { value: string } }) => set({ [name]: normalize(target.value) } as Partial<Values>),
      error: error(name),
    }),
    /** For a switch. */
    toggle: <Name extends NamesOf<Values, boolean> & string>(name: Name) => ({
      checked: values[name],
      onChange: (checked: boolean) => set({ [name]: checked } as Partial<Values>),
      error: error(name),
    }),
  }
}
