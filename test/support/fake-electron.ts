/**
 * The parts of Electron that main/ uses, for tests in plain Node (vitest.config.ts substitutes it for the package). It records calls and can simulate
 * the system and the user. `satisfies` below checks it against the real package's types.
 */
import type * as Electron from 'electron'
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { FakePowerMonitor } from './fake-power-monitor.ts'

type Handler = (event: Electron.IpcMainInvokeEvent, ...args: unknown[]) => unknown

/** Recorded calls and prepared results. Call `reset()` before each test. */
export const fakeElectron = {
  has_single_instance_lock: true,
  paths: new Map<string, string>(),
  exits: [] as number[],
  quits: 0,
  is_sandboxed: false,
  /** Chromium's command-line switches. */
  switches: [] as string[],
  windows: [] as FakeWindow[],
  handlers: new Map<string, Handler>(),
  opened_urls: [] as string[],
  errors: [] as string[],
  notifications: [] as FakeNotification[],
  /** The button that the user presses in a message box. */
  message_box_response: 0,
  message_boxes: [] as string[],
  open_dialog_result: { canceled: false, filePaths: ['/home/me/app'] },
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
  trays: [] as FakeTray[],
  /** Thrown by the next tray icon. */
  tray_error: undefined as Error | undefined,
  /** Active power save blockers by id; empty where they were stopped. */
  power_save_blockers: [] as string[],
  model_id: '',
  clipboard: '',
  opened_paths: [] as string[],
  crash_reports: undefined as Electron.CrashReporterStartOptions | undefined,
  protocol_clients: [] as { scheme: string; path: string | undefined; args: string[] | undefined }[],
  login_item: { openAtLogin: false, wasOpenedAtLogin: false } as Electron.Settings & { wasOpenedAtLogin: boolean },
  about_panel: undefined as Electron.AboutPanelOptionsOptions | undefined,
  has_notifications: true,
  keychain: {
    is_available: true,
    /** `v11`: encrypted with a key of the keyring; on Linux `v10`: with the key in Chromium's source code. */
    version_prefix: 'v11',
    secret: 'k1',
    /** How many decryption attempts fail as temporarily unavailable. */
    unavailable_attempts: 0,
    is_old: false,
  },
  permissions: {} as {
    request?:
      | ((contents: null, permission: string, message_box_response: (granted: boolean) => void, details: { requestingUrl: string }) => void)
      | null
    check?: ((contents: null, permission: string, origin: string) => boolean) | null
  },
  menu: undefined as Electron.MenuItemConstructorOptions[] | undefined,
}

const initialState = structuredClone({ ...fakeElectron, windows: [], handlers: new Map(), notifications: [], trays: [] })

export function resetFakeElectron(): void {
  Object.assign(fakeElectron, structuredClone(initialState))
  for (const emitter of [appEvents, power, ...sessions.values()]) emitter.removeAllListeners()
  power.reset()
  app.isPackaged = false
}

const appEvents = new EventEmitter()
const sessions = new Map<string, FakeSession>()
const power = new FakePowerMonitor()

/** The settings of a session partition. */
export class FakeSession extends EventEmitter {
  is_cleared = false
  proxy: Electron.ProxyConfig | undefined
  requestListener: ((details: { url: string }, answer: (result: { cancel?: boolean }) => void) => void) | null = null
  headers:
    | ((
        details: { requestHeaders: Record<string, string> },
        answer: (changed: { requestHeaders?: Record<string, string | string[]> }) => void,
      ) => void)
    | null = null
  webRequest = {
    onBeforeRequest: (listener: FakeSession['requestListener']) => void (this.requestListener = listener),
    onBeforeSendHeaders: (listener: FakeSession['headers']) => void (this.headers = listener),
  }
  setProxy = async (proxy: Electron.ProxyConfig) => void (this.proxy = proxy)
  clearData = async () => void (this.is_cleared = true)
  setPermissionRequestHandler = (handler: typeof fakeElectron.permissions.request) => void (fakeElectron.permissions.request = handler)
  setPermissionCheckHandler = (handler: typeof fakeElectron.permissions.check) => void (fakeElectron.permissions.check = handler)
  devicePermissionHandler: ((details: object) => boolean) | null = null
  setDevicePermissionHandler = (handler: FakeSession['devicePermissionHandler']) => void (this.devicePermissionHandler = handler)
  displayMediaHandler: ((request: object, answer: (streams: object | null) => void) => void) | null = null
  setDisplayMediaRequestHandler = (handler: FakeSession['displayMediaHandler']) => void (this.displayMediaHandler = handler)
  /** Simulates a download. Returns what happened to it. */
  download(url: string, filename: string): { is_refused: boolean; options: Electron.SaveDialogOptions | undefined } {
    const outcome = { is_refused: false, options: undefined as Electron.SaveDialogOptions | undefined }
    const item = {
      getURL: () => url,
      getFilename: () => filename,
      setSaveDialogOptions: (options: Electron.SaveDialogOptions) => void (outcome.options = options),
    }
    this.emit('will-download', { preventDefault: () => (outcome.is_refused = true) }, item)
    return outcome
  }
}

/** Answers DevTools commands of a page; set by a test. */
export const fakeDevtools = { answer: async (_of: FakeDebugger, _method: string, _params?: object, _session?: string): Promise<unknown> => ({}) }

/** A debugger that forwards to the handler of a test. */
export class FakeDebugger extends EventEmitter {
  is_attached = false
  attach = () => void (this.is_attached = true)
  detach = () => void (this.is_attached = false)
  sendCommand = async (method: string, params?: object, of?: string): Promise<unknown> => fakeDevtools.answer(this, method, params, of)
}

export class FakeWebContents extends EventEmitter {
  session: FakeSession
  debugger = new FakeDebugger()
  constructor(partition: string) {
    super()
    this.session = session.fromPartition(partition)
  }
  setAudioMuted(): void {}
  setWebRTCIPHandlingPolicy(): void {}
  sent: [string, ...unknown[]][] = []
  reloads = 0
  zoom = 0
  /** The page's `beforeunload` prevents unloading. Electron then shows nothing and keeps the page. */
  prevents_unload = false
  reload(): void {
    if (this.canUnload()) this.reloads += 1
  }
  canUnload(): boolean {
    let isOverruled = false
    if (this.prevents_unload) this.emit('will-prevent-unload', { preventDefault: () => (isOverruled = true) })
    return !this.prevents_unload || isOverruled
  }
  getZoomLevel = () => this.zoom
  setZoomLevel = (level: number) => void (this.zoom = level)
  openHandler: ((details: { url: string }) => { action: string }) | undefined
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.openHandler = handler
  }
  send(channel: string, ...args: unknown[]): void {
    this.sent.push([channel, ...args])
  }
}

export class FakeWindow extends EventEmitter {
  options: Electron.BrowserWindowConstructorOptions
  webContents: FakeWebContents
  is_destroyed = false
  loaded: string[] = []
  load_error: Error | undefined
  is_visible = false
  is_focused = false
  is_minimized = false
  is_maximized = false
  progress = -1
  bounds: Electron.Rectangle

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super()
    this.options = options
    this.webContents = new FakeWebContents(options.webPreferences?.partition ?? '')
    this.bounds = { x: options.x ?? 100, y: options.y ?? 100, width: options.width ?? 800, height: options.height ?? 600 }
    fakeElectron.windows.push(this)
    appEvents.emit('web-contents-created', {}, this.webContents)
    appEvents.emit('browser-window-created', {}, this)
  }
  static fromWebContents(contents: unknown): FakeWindow | null {
    return fakeElectron.windows.find((window) => window.webContents === contents) ?? null
  }
  async loadURL(url: string): Promise<void> {
    this.loaded.push(url)
    if (this.load_error) throw this.load_error
    this.emit('ready-to-show')
    this.webContents.emit('did-finish-load')
  }
  show = () => void (this.is_visible = true)
  focus = () => void (this.is_focused = true)
  restore = () => void (this.is_minimized = false)
  /** Shows the window too, as in Electron. */
  maximize = () => void (this.is_maximized = this.is_visible = true)
  isMinimized = () => this.is_minimized
  isMaximized = () => this.is_maximized
  isFocused = () => this.is_focused
  isDestroyed = () => this.is_destroyed
  getNormalBounds = () => this.bounds
  setProgressBar = (value: number) => void (this.progress = value)
  destroy(): void {
    this.is_destroyed = true
    fakeElectron.windows = fakeElectron.windows.filter((window) => window !== this)
    this.emit('closed')
    if (fakeElectron.windows.length === 0) appEvents.emit('window-all-closed')
  }
  /** The user closes it, or the app quits. */
  close(): void {
    this.emit('close', {})
    if (this.webContents.canUnload()) this.destroy()
  }
}

export class FakeNotification extends EventEmitter {
  options: Electron.NotificationConstructorOptions
  constructor(options: Electron.NotificationConstructorOptions = {}) {
    super()
    this.options = options
    fakeElectron.notifications.push(this)
  }
  static isSupported = () => fakeElectron.has_notifications
  is_shown = false
  show = () => void (this.is_shown = true)
}

export class FakeTray extends EventEmitter {
  image: FakeImage
  tooltip = ''
  menu: Electron.MenuItemConstructorOptions[] = []
  /** How often a menu was set. */
  menu_count = 0
  is_destroyed = false
  constructor(image: FakeImage) {
    super()
    if (fakeElectron.tray_error) throw fakeElectron.tray_error
    this.image = image
    fakeElectron.trays.push(this)
  }
  setToolTip = (text: string) => void (this.tooltip = text)
  setContextMenu(menu: FakeMenu): void {
    this.menu = menu.template
    this.menu_count += 1
  }
  destroy = () => void (this.is_destroyed = true)
}

interface FakeMenu {
  template: Electron.MenuItemConstructorOptions[]
}

interface FakeImage {
  path: string
  is_template: boolean
}

export const app = Object.assign(appEvents, {
  setPath(name: string, path: string): void {
    if (!existsSync(path)) throw new Error('Failed to set path')
    fakeElectron.paths.set(name, path)
  },
  requestSingleInstanceLock: () => fakeElectron.has_single_instance_lock,
  enableSandbox: () => void (fakeElectron.is_sandboxed = true),
  commandLine: { hasSwitch: (name: string) => fakeElectron.switches.includes(name) },
  whenReady: async () => {},
  exit: (code = 0) => void fakeElectron.exits.push(code),
  getVersion: () => '0.1.0',
  getLocale: () => 'en',
  getAppPath: () => '/checkout',
  getPath: (name: string) => fakeElectron.paths.get(name) ?? `/home/me/${name}`,
  isReady: () => true,
  isPackaged: false,
  setName: (_name: string) => {},
  setAppUserModelId: (id: string) => void (fakeElectron.model_id = id),
  setAboutPanelOptions: (options: Electron.AboutPanelOptionsOptions) => void (fakeElectron.about_panel = options),
  setAsDefaultProtocolClient: (scheme: string, path?: string, args?: string[]) => fakeElectron.protocol_clients.push({ scheme, path, args }) > 0,
  setLoginItemSettings: (item: Electron.Settings) => void (fakeElectron.login_item = { ...fakeElectron.login_item, ...item }),
  getLoginItemSettings: (options: Electron.LoginItemSettingsOptions = {}) => ({
    // Windows reports a login item only if its arguments are passed.
    openAtLogin: fakeElectron.login_item.openAtLogin === true && String(options.args) === String(fakeElectron.login_item.args),
    wasOpenedAtLogin: fakeElectron.login_item.wasOpenedAtLogin,
  }),
  /** Simulates a quit with the events of Electron. Nothing happens if a listener prevents it. */
  quit(): void {
    let isPrevented = false
    appEvents.emit('before-quit', { preventDefault: () => (isPrevented = true) })
    if (isPrevented) return
    // A window that does not close keeps the app running.
    for (const window of fakeElectron.windows) window.close()
    if (fakeElectron.windows.length > 0) return
    fakeElectron.quits += 1
    appEvents.emit('quit')
  },
})

export const BrowserWindow = FakeWindow
export const Notification = FakeNotification
export const powerMonitor = power
export const powerSaveBlocker = {
  start: (type: 'prevent-app-suspension' | 'prevent-display-sleep') => fakeElectron.power_save_blockers.push(type) - 1,
  stop: (id: number) => fakeElectron.power_save_blockers.splice(id, 1, '').length > 0,
} satisfies Pick<Electron.PowerSaveBlocker, 'start' | 'stop'>
export const nativeTheme = { shouldUseDarkColors: false }
export const screen = { getAllDisplays: () => fakeElectron.displays, getPrimaryDisplay: () => fakeElectron.displays[0]! }
export const shell = {
  openExternal: async (url: string) => void fakeElectron.opened_urls.push(url),
  async openPath(path: string) {
    fakeElectron.opened_paths.push(path)
    return ''
  },
}
export const clipboard = { writeText: async (text: string) => void (fakeElectron.clipboard = text) }
export const crashReporter = { start: (options?: Electron.CrashReporterStartOptions) => void (fakeElectron.crash_reports = options) }
export const Tray = FakeTray
export const nativeImage = {
  createFromPath(path: string) {
    const image = { path, is_template: false, setTemplateImage: (wanted: boolean) => void (image.is_template = wanted) }
    return image
  },
}

export const dialog = {
  showErrorBox: (title: string, content: string) => void fakeElectron.errors.push(`${title}: ${content}`),
  async showMessageBox(...args: [options: { message: string }] | [window: FakeWindow, options: { message: string }]) {
    fakeElectron.message_boxes.push((args.length === 2 ? args[1] : args[0]).message)
    return { response: fakeElectron.message_box_response, checkboxChecked: false }
  },
  showOpenDialog: async (..._args: unknown[]) => fakeElectron.open_dialog_result,
}

export const ipcMain = { handle: (channel: string, handler: Handler) => void fakeElectron.handlers.set(channel, handler) }

export const Menu = {
  buildFromTemplate: (template: Electron.MenuItemConstructorOptions[]): FakeMenu => ({ template }),
  setApplicationMenu: (menu: FakeMenu) => void (fakeElectron.menu = menu.template),
}

export const session = {
  fromPartition(partition: string): FakeSession {
    const known = sessions.get(partition) ?? new FakeSession()
    sessions.set(partition, known)
    return known
  },
}

/** Encrypts with a secret that a test may change, which simulates another keyring. */
export const safeStorage = {
  isAsyncEncryptionAvailable: async () => fakeElectron.keychain.is_available,
  encryptStringAsync: async (text: string) =>
    Buffer.from(`${fakeElectron.keychain.version_prefix}${fakeElectron.keychain.secret}:${Buffer.from(text).toString('base64')}`),
  async decryptStringAsync(wrapped: Buffer): Promise<Electron.DecryptStringAsyncReturnValue> {
    if (fakeElectron.keychain.unavailable_attempts-- > 0)
      throw new Error('safeStorage.decryptStringAsync is temporarily unavailable. Please try again.')
    const [secret, text = ''] = wrapped.toString().slice(3).split(':')
    if (secret !== fakeElectron.keychain.secret) throw new Error('Error while decrypting the ciphertext.')
    return { result: Buffer.from(text, 'base64').toString(), shouldReEncrypt: fakeElectron.keychain.is_old }
  },
} satisfies Pick<Electron.SafeStorage, 'isAsyncEncryptionAvailable' | 'encryptStringAsync' | 'decryptStringAsync'>

// Objects without overloads are checked against the real types here.
void (shell satisfies Pick<Electron.Shell, 'openExternal' | 'openPath'>)
void (clipboard satisfies Pick<Electron.Clipboard, 'writeText'>)
void (crashReporter satisfies Pick<Electron.CrashReporter, 'start'>)
void (nativeTheme satisfies Pick<Electron.NativeTheme, 'shouldUseDarkColors'>)
void (dialog satisfies Pick<Electron.Dialog, 'showErrorBox'>)
void (app satisfies Pick<
  Electron.App,
  | 'setPath'
  | 'getPath'
  | 'setName'
  | 'setAppUserModelId'
  | 'setAboutPanelOptions'
  | 'setAsDefaultProtocolClient'
  | 'setLoginItemSettings'
  | 'requestSingleInstanceLock'
  | 'enableSandbox'
  | 'getAppPath'
  | 'getLocale'
  | 'isReady'
  | 'exit'
  | 'quit'
  | 'getVersion'
  | 'isPackaged'
>)
void (FakeWindow.prototype satisfies Pick<Electron.BrowserWindow, 'loadURL' | 'close'>)
void (FakeWebContents.prototype satisfies Pick<Electron.WebContents, 'send'>)

/** The IPC side of the preload: what it exposes, invokes and receives. */
export const ipcRenderer = Object.assign(new EventEmitter(), {
  invoked: [] as [string, ...unknown[]][],
  async invoke(channel: string, ...args: unknown[]): Promise<unknown> {
    ipcRenderer.invoked.push([channel, ...args])
    return `answer of ${channel}`
  },
})
export const exposedApis = new Map<string, unknown>()
export const contextBridge = { exposeInMainWorld: (name: string, api: unknown) => void exposedApis.set(name, api) } satisfies Pick<
  Electron.ContextBridge,
  'exposeInMainWorld'
>
export const webUtils = { getPathForFile: (file: File) => (file.name === 'pasted' ? '' : `/home/me/${file.name}`) } satisfies Electron.WebUtils
