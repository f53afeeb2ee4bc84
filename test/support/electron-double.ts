/**
 * Electron as far as main/ uses it, for tests in plain Node (vitest.config.ts puts it in the package's place). It keeps what it is
 * told and can play what the system or a person would do. `satisfies` below holds it to the real package's types.
 */
import type * as Electron from 'electron'
import { EventEmitter } from 'node:events'

type Handler = (event: Electron.IpcMainInvokeEvent, ...args: unknown[]) => unknown

/** What happened, and what shall happen next. `reset()` before each test. */
export const world = {
  has_lock: true,
  paths: new Map<string, string>(),
  exits: [] as number[],
  quits: 0,
  is_sandboxed: false,
  windows: [] as FakeWindow[],
  handlers: new Map<string, Handler>(),
  opened: [] as string[],
  errors: [] as string[],
  notices: [] as FakeNotification[],
  /** The button that a person presses in a message box. */
  answer: 0,
  questions: [] as string[],
  folder: { canceled: false, filePaths: ['/home/me/app'] },
  displays: [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }],
  keychain: {
    is_available: true,
    backend: 'gnome_libsecret' as ReturnType<Electron.SafeStorage['getSelectedStorageBackend']>,
    secret: 'k1',
    is_old: false,
  },
  permissions: {} as {
    request?: ((contents: null, permission: string, answer: (granted: boolean) => void, details: { requestingUrl: string }) => void) | null
    check?: ((contents: null, permission: string, origin: string) => boolean) | null
  },
  menu: undefined as Electron.MenuItemConstructorOptions[] | undefined,
}

const first = structuredClone({ ...world, windows: [], handlers: new Map(), notices: [] })

export function reset(): void {
  Object.assign(world, structuredClone(first))
  for (const emitter of [appEvents, power]) emitter.removeAllListeners()
}

const appEvents = new EventEmitter()
const power = new EventEmitter()

/** What a partition was told. */
export class FakeSession extends EventEmitter {
  is_cleared = false
  proxy: Electron.ProxyConfig | undefined
  before: ((details: { url: string }, answer: (verdict: { cancel?: boolean }) => void) => void) | null = null
  headers:
    | ((
        details: { requestHeaders: Record<string, string> },
        answer: (changed: { requestHeaders?: Record<string, string | string[]> }) => void,
      ) => void)
    | null = null
  webRequest = {
    onBeforeRequest: (listener: FakeSession['before']) => void (this.before = listener),
    onBeforeSendHeaders: (listener: FakeSession['headers']) => void (this.headers = listener),
  }
  setProxy = async (proxy: Electron.ProxyConfig) => void (this.proxy = proxy)
  clearData = async () => void (this.is_cleared = true)
  setPermissionRequestHandler = (handler: typeof world.permissions.request) => void (world.permissions.request = handler)
  setPermissionCheckHandler = (handler: typeof world.permissions.check) => void (world.permissions.check = handler)
}

/** Answers what the debugger of a page is asked; put there by a test. */
export const inspector = { answer: async (_of: FakeDebugger, _method: string, _params?: object, _session?: string): Promise<unknown> => ({}) }

/** Speaks to whatever a test puts behind it. */
export class FakeDebugger extends EventEmitter {
  is_attached = false
  attach = () => void (this.is_attached = true)
  detach = () => void (this.is_attached = false)
  sendCommand = async (method: string, params?: object, of?: string): Promise<unknown> => inspector.answer(this, method, params, of)
}

export class FakeContents extends EventEmitter {
  session: FakeSession
  debugger = new FakeDebugger()
  constructor(partition: string) {
    super()
    this.session = session.fromPartition(partition)
  }
  setAudioMuted(): void {}
  setWebRTCIPHandlingPolicy(): void {}
  sent: [string, ...unknown[]][] = []
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
  webContents: FakeContents
  is_destroyed = false
  loaded: string[] = []
  is_visible = false
  is_focused = false
  is_minimized = false
  is_maximized = false
  progress = -1
  bounds: Electron.Rectangle

  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super()
    this.options = options
    this.webContents = new FakeContents(options.webPreferences?.partition ?? '')
    this.bounds = { x: options.x ?? 100, y: options.y ?? 100, width: options.width ?? 800, height: options.height ?? 600 }
    world.windows.push(this)
    appEvents.emit('web-contents-created', {}, this.webContents)
  }
  static fromWebContents(contents: unknown): FakeWindow | null {
    return world.windows.find((window) => window.webContents === contents) ?? null
  }
  async loadURL(url: string): Promise<void> {
    this.loaded.push(url)
    this.emit('ready-to-show')
  }
  show = () => void (this.is_visible = true)
  focus = () => void (this.is_focused = true)
  restore = () => void (this.is_minimized = false)
  maximize = () => void (this.is_maximized = true)
  isMinimized = () => this.is_minimized
  isMaximized = () => this.is_maximized
  isFocused = () => this.is_focused
  getNormalBounds = () => this.bounds
  setProgressBar = (value: number) => void (this.progress = value)
  destroy(): void {
    this.is_destroyed = true
    world.windows = world.windows.filter((window) => window !== this)
  }
  /** A person closes it. */
  close(): void {
    this.emit('close', {})
    this.emit('closed')
    world.windows = world.windows.filter((window) => window !== this)
    if (world.windows.length === 0) appEvents.emit('window-all-closed')
  }
}

export class FakeNotification extends EventEmitter {
  options: Electron.NotificationConstructorOptions
  constructor(options: Electron.NotificationConstructorOptions = {}) {
    super()
    this.options = options
    world.notices.push(this)
  }
  static isSupported = () => true
  show(): void {}
}

export const app = Object.assign(appEvents, {
  setPath: (name: string, path: string) => void world.paths.set(name, path),
  requestSingleInstanceLock: () => world.has_lock,
  enableSandbox: () => void (world.is_sandboxed = true),
  whenReady: async () => {},
  exit: (code = 0) => void world.exits.push(code),
  getVersion: () => '0.1.0',
  isPackaged: false,
  /** Asks as the system does; an end that nobody prevents counts. */
  quit(): void {
    let isPrevented = false
    appEvents.emit('before-quit', { preventDefault: () => (isPrevented = true) })
    if (!isPrevented) world.quits += 1
  },
})

export const BrowserWindow = FakeWindow
export const Notification = FakeNotification
export const powerMonitor = power
export const nativeTheme = { shouldUseDarkColors: false }
export const screen = { getAllDisplays: () => world.displays }
export const shell = { openExternal: async (url: string) => void world.opened.push(url) }

export const dialog = {
  showErrorBox: (title: string, content: string) => void world.errors.push(`${title}: ${content}`),
  async showMessageBox(options: { message: string }) {
    world.questions.push(options.message)
    return { response: world.answer, checkboxChecked: false }
  },
  showOpenDialog: async (..._args: unknown[]) => world.folder,
}

export const ipcMain = { handle: (channel: string, handler: Handler) => void world.handlers.set(channel, handler) }

export const Menu = {
  buildFromTemplate: (template: Electron.MenuItemConstructorOptions[]) => void (world.menu = template),
  setApplicationMenu: (_menu: unknown) => {},
}

const sessions = new Map<string, FakeSession>()
export const session = {
  fromPartition(partition: string): FakeSession {
    const known = sessions.get(partition) ?? new FakeSession()
    sessions.set(partition, known)
    return known
  },
}

/** Wraps with a secret that a test may change, as a system does when its keyring is another one. */
export const safeStorage = {
  isAsyncEncryptionAvailable: async () => world.keychain.is_available,
  getSelectedStorageBackend: () => world.keychain.backend,
  encryptStringAsync: async (text: string) => Buffer.from(`${world.keychain.secret}:${Buffer.from(text).toString('base64')}`),
  async decryptStringAsync(wrapped: Buffer): Promise<Electron.DecryptStringAsyncReturnValue> {
    const [secret, text = ''] = wrapped.toString().split(':')
    if (secret !== world.keychain.secret) throw new Error('Error while decrypting the ciphertext.')
    return { result: Buffer.from(text, 'base64').toString(), shouldReEncrypt: world.keychain.is_old }
  },
} satisfies Pick<Electron.SafeStorage, 'isAsyncEncryptionAvailable' | 'getSelectedStorageBackend' | 'encryptStringAsync' | 'decryptStringAsync'>

// Everything that has no overloads is held to the real types here.
void (shell satisfies Pick<Electron.Shell, 'openExternal'>)
void (nativeTheme satisfies Pick<Electron.NativeTheme, 'shouldUseDarkColors'>)
void (dialog satisfies Pick<Electron.Dialog, 'showErrorBox'>)
void (app satisfies Pick<Electron.App, 'setPath' | 'requestSingleInstanceLock' | 'enableSandbox' | 'exit' | 'quit' | 'getVersion' | 'isPackaged'>)
void (FakeWindow.prototype satisfies Pick<Electron.BrowserWindow, 'loadURL' | 'close'>)
void (FakeContents.prototype satisfies Pick<Electron.WebContents, 'send'>)
