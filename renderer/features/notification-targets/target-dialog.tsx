import { limits } from '../../../server/contract/limits.ts'
import { notificationRuleLabels, notificationTargetLabels } from '../../../server/contract/labels.ts'
import { defaultNotificationRules, notificationTargetTypes } from '../../../server/contract/notification-defaults.ts'
import type { NotificationRules, NotificationTarget } from '../../../server/contract/notifications.ts'
import { useInstanceSession } from '../../api/instance.ts'
import {
  useCreateAccountNotificationTarget,
  useCreateNotificationTarget,
  useUpdateAccountNotificationTarget,
  useUpdateNotificationTarget,
} from '../../api/notifications.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { SelectField, SwitchField, TextField } from '../../components/field.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import { useForm } from '../../lib/use-form.ts'
import styles from './notification-targets.module.css'

interface Props {
  slug: string | null
  /** Null: a new one. */
  target: NotificationTarget | null
  canSendEmail: boolean
  onClose: () => void
}

type Checkbox = Exclude<keyof NotificationRules, 'error_rate'>
const projectRules = ['deployment_failed', 'deployment_ready', 'app_crashed'] as const
const instanceRules = ['disk', 'certificate'] as const

const addressFields = {
  email: { label: 'Email address', placeholder: 'team@example.com', hint: undefined },
  webhook: {
    label: 'URL',
    placeholder: 'https://hooks.example.com/homeport',
    hint: 'Gets POST requests with JSON, signed with a secret that is shown once.',
  },
  slack: {
    label: 'Webhook URL',
    placeholder: 'https://hooks.slack.com/services/…',
    hint: 'Of an incoming webhook. Mattermost, Rocket.Chat and Discord (with /slack at the end) work too. It is not shown again.',
  },
} as const

/** Adds a target, or changes the name and the rules of one. */
export function TargetDialog({ slug, target, canSendEmail, onClose }: Props) {
  const isOwner = useInstanceSession().data?.user.is_instance_owner === true
  const hidden = { hidesErrorToast: true }
  const saved = { ...hidden, successMessage: 'Target saved.', onSuccess: onClose }
  const [createOfProject, createOfAccount] = [useCreateNotificationTarget(hidden), useCreateAccountNotificationTarget(hidden)]
  const [updateOfProject, updateOfAccount] = [useUpdateNotificationTarget(saved), useUpdateAccountNotificationTarget(saved)]
  const create = slug === null ? createOfAccount : createOfProject
  const update = slug === null ? updateOfAccount : updateOfProject
  const rules = target?.rules ?? defaultNotificationRules
  const form = useForm({
    initial: {
      type: target?.type ?? 'email',
      address: '',
      name: target?.name ?? '',
      ...rules,
      error_rate: rules.error_rate !== null,
      percent: rules.error_rate?.percent ?? 5,
      minutes: rules.error_rate?.minutes ?? 5,
      is_enabled: target?.is_enabled ?? true,
    },
    submission: target ? update : create,
    onSubmit({ type, address, name, error_rate, percent, minutes, is_enabled, ...checkboxes }) {
      const body = {
        rules: { ...checkboxes, error_rate: error_rate ? { percent, minutes } : null },
        ...(name.trim() === '' ? {} : { name: name.trim() }),
      }
      if (target) {
        const change = { ...body, is_enabled }
        if (slug === null) updateOfAccount.mutate({ params: { id: target.id }, body: change })
        else updateOfProject.mutate({ params: { slug, id: target.id }, body: change })
      } else if (slug === null) createOfAccount.mutate({ body: { ...body, type, address: address.trim() } })
      else createOfProject.mutate({ params: { slug }, body: { ...body, type, address: address.trim() } })
    },
    fieldOf: ({ code }) => !target && code === 'invalid_input' && 'address',
  })
  const { values } = form
  if (create.data) return <CreatedTarget created={create.data} onClose={onClose} />

  const checkbox = (name: Checkbox) => (
    <label key={name} className={styles.rule}>
      <input type="checkbox" checked={values[name]} onChange={({ target: { checked } }) => form.set({ [name]: checked })} />
      <span>{notificationRuleLabels[name]}</span>
    </label>
  )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={target ? `Edit “${target.name}”` : 'Add target'}
      description="Choose where notifications go and what they are about."
    >
      <form className="stack" {...form.props}>
        {!target && (
          <>
            <SelectField
              label="Type"
              value={values.type}
              onChange={({ target: { value } }) => form.set({ type: notificationTargetTypes.find((one) => one === value) ?? 'email' })}
              hint={values.type === 'email' && !canSendEmail ? 'This instance has no mail server yet: set HOMEPORT_SMTP_URL.' : undefined}
            >
              {notificationTargetTypes.map((type) => (
                <option key={type} value={type}>
                  {notificationTargetLabels[type]}
                </option>
              ))}
            </SelectField>
            <TextField
              required
              type={values.type === 'email' ? 'email' : 'url'}
              maxLength={limits.notification_address}
              {...addressFields[values.type]}
              {...form.text('address')}
            />
          </>
        )}
        <TextField label="Name" maxLength={limits.name.max} placeholder="Optional" {...form.text('name')} />
        <fieldset className={styles.rules}>
          <legend>Events</legend>
          {projectRules.map(checkbox)}
          <label className={styles.rule}>
            <input type="checkbox" checked={values.error_rate} onChange={({ target: { checked } }) => form.set({ error_rate: checked })} />
            <span>{notificationRuleLabels.error_rate}</span>
          </label>
          {values.error_rate && (
            <div className={styles.threshold}>
              <NumberField
                label="Above (%)"
                range={limits.error_rate.percent}
                step="any"
                value={values.percent}
                onChange={(percent) => form.set({ percent })}
              />
              <NumberField
                label="For (minutes)"
                range={limits.error_rate.minutes}
                step={1}
                value={values.minutes}
                onChange={(minutes) => form.set({ minutes })}
              />
            </div>
          )}
          {slug === null && isOwner && instanceRules.map(checkbox)}
        </fieldset>
        {target && <SwitchField label="Send notifications" {...form.toggle('is_enabled')} />}
        {form.problem && <ProblemView problem={form.problem} />}
        <footer className="dialog-footer">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.is_busy} disabled={!target && values.address.trim() === ''}>
            {target ? 'Save target' : 'Add target'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function NumberField({
  label,
  range,
  step,
  value,
  onChange,
}: {
  label: string
  range: { min: number; max: number }
  step: number | 'any'
  value: number
  onChange: (value: number) => void
}) {
  return (
    <TextField
      label={label}
      type="number"
      required
      min={range.min}
      max={range.max}
      step={step}
      value={Number.isNaN(value) ? '' : value}
      onChange={({ target }) => onChange(target.valueAsNumber)}
    />
  )
}

function CreatedTarget({
  created: { target, signing_secret, warning },
  onClose,
}: {
  created: { target: NotificationTarget; signing_secret: string | null; warning: string | null }
  onClose: () => void
}) {
  if (signing_secret !== null)
    return (
      <SecretDialog
        title={`Signing secret of “${target.name}”`}
        description="Copy it now: it is not shown again. Your server verifies with it that a request is from this instance."
        secret={signing_secret}
        kind="secret"
        onClose={onClose}
      >
        <p className="text-muted">
          Compare <code>v1</code> of the header <code>Homeport-Signature</code> with the HMAC-SHA256 of the time, a dot and the body. Help has the
          code.
        </p>
      </SecretDialog>
    )
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Target added"
      description={warning ?? `${target.name} gets notifications from now on. Send a test to see that it works.`}
    >
      <footer className="dialog-footer">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}
