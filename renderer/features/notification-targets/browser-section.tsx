import { SwitchField } from '../../components/field.tsx'
import { useBrowserNotifications } from '../../stores/browser-notifications.ts'

const hints = {
  on: 'Shown by this browser while the dashboard is open in a tab that you are not looking at.',
  off: 'Shown by this browser while the dashboard is open in a tab that you are not looking at.',
  denied: 'This browser blocks notifications of this page. Allow them in its settings for this site.',
  unsupported: 'This browser cannot show notifications here.',
} as const

/** Deployments and crashes as notifications of this browser. */
export function BrowserNotifications() {
  const { state, turnOn, turnOff } = useBrowserNotifications()
  return (
    <section className="card card-body" aria-label="This browser">
      <SwitchField
        label="Notifications in this browser"
        hint={hints[state]}
        checked={state === 'on'}
        disabled={state === 'denied' || state === 'unsupported'}
        onChange={(isOn) => (isOn ? void turnOn() : turnOff())}
      />
    </section>
  )
}
