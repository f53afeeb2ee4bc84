import { create } from 'zustand'

/** Whether events are also shown as notifications of the browser, in this browser. */
export type BrowserNotificationState = 'on' | 'off' | 'denied' | 'unsupported'

const storageKey = 'homeport.browser-notifications'

interface BrowserNotificationStore {
  state: BrowserNotificationState
  /** Asks for the permission, which a browser only allows after a click. */
  turnOn(): Promise<void>
  turnOff(): void
}

export const useBrowserNotifications = create<BrowserNotificationStore>((set) => ({
  state: readState(),
  async turnOn() {
    await Notification.requestPermission()
    writeChoice(true)
    set({ state: readState() })
  },
  turnOff() {
    writeChoice(false)
    set({ state: readState() })
  },
}))

function readState(): BrowserNotificationState {
  if (!('Notification' in window)) return 'unsupported'
  if (Notification.permission === 'denied') return 'denied'
  try {
    return Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on' ? 'on' : 'off'
  } catch {
    return 'off'
  }
}

function writeChoice(isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(storageKey, 'on')
    else localStorage.removeItem(storageKey)
  } catch {
    // Without storage the choice cannot be kept.
  }
}

/** Shows an event while the user looks at something else. `path` is opened by a click. */
export function showBrowserNotification({ id, title, text }: { id: string; title: string; text: string }, path: string): void {
  if (useBrowserNotifications.getState().state !== 'on' || document.visibilityState === 'visible') return
  // The tag replaces the same notification of another tab.
  const notification = new Notification(title, { body: text, tag: id })
  notification.addEventListener('click', () => {
    window.focus()
    location.assign(path)
  })
}
