import type { HelpArticle } from '../topic.ts'

export const instanceTopics: HelpArticle[] = [
  {
    id: 'disk',
    title: 'The disk is full',
    summary: 'Something answers 507, a deployment fails with storage_full, or an old version cannot come back.',
    keywords: 'ENOSPC no space left on device storage_full 507 clean docker images prune keep_deployments rollback_not_allowed',
    body: [
      'On a full disk apps go on running and everything can be read; what would write is refused. Nothing has to be started again once there is room. [[/instance/disk|Disk]] shows what takes it, and cleans what nothing needs after it has said what that is.',
      { run: 'npx homeport disk' },
      { run: 'npx homeport disk clean' },
      { run: 'docker system df', note: 'the rest of what Docker holds; docker system prune clears it' },
      'Of each project the last ten builds are kept, and always the one before the one that serves. One that is gone cannot be rolled back to: deploy its commit again. Fewer, or more:',
      { run: 'npx homeport settings set keep_deployments 5' },
      'On a Mac and on Windows room that is freed in Docker comes back to the disk when the engine’s virtual machine gives it back.',
    ],
  },
  {
    id: 'backups',
    title: 'Backup, restore, another machine',
    summary: 'Keep everything safe, bring it back, or move to a new machine.',
    keywords: 'backup restore move migrate master key export recovery damaged database',
    body: [
      'A backup is one file: projects, deployments, variables, dumps of every database, uploads, logs. It is made while everything runs. [[/instance/backups|Backups]] makes and downloads one.',
      { run: 'npx homeport backup all.tar.gz' },
      'The master key is never in it. Without the key nothing that was sealed opens again, so keep a copy of it somewhere else: `master.key` in the data folder (the doctor names the folder under disk).',
      { run: 'npx homeport restore all.tar.gz --data NEW --key master.key' },
      { run: 'npx homeport serve --data NEW' },
      {
        list: [
          'The key is lost: `--without-key` brings back all but the secrets, and names what is missing.',
          'The key of a desktop is locked in that machine’s keychain: it opens for the same person on the same machine.',
          '“A restore was cut off”: nothing in that folder is whole. Run the same restore again.',
          'Run one of two for good: both would watch the same repositories.',
        ],
      },
      'By itself Homeport copies its ledger every hour and keeps seven copies. A start that finds the ledger damaged takes the newest good one and says from when it is.',
    ],
  },
  {
    id: 'tokens',
    title: 'Signing in, tokens and limits',
    summary: 'The dashboard asks to sign in, a program gets 401 or 429, or a request was answered twice the same.',
    keywords: 'unauthorized 401 token api password session rate_limited 429 idempotency_conflict retry-after svc_',
    body: [
      'A browser signs in by a link that is good once:',
      { run: 'npx homeport open' },
      'A program sends a token, made under [[/account?at=tokens|Account, API tokens]] and shown once. It may do all that its maker may; revoked, it is refused from the next request on.',
      { run: 'npx homeport tokens create ci --days 90' },
      { run: 'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4600/v1/projects' },
      {
        list: [
          '401 `unauthorized`: the token is mistyped, revoked or over, or belongs to another instance.',
          '429 `rate_limited`: more requests in a minute than the settings of the instance allow. `Retry-After` says when to ask again.',
          '409 `idempotency_conflict`: this `Idempotency-Key` was used for another request within 24 hours, or what it began was cut off. Look what is there, then take a new key.',
        ],
      },
    ],
  },
  {
    id: 'people',
    title: 'People and teams',
    summary: 'Invite somebody, or find out why something is forbidden.',
    keywords:
      'invite member team forbidden 403 email_not_verified sign up account owner invitation letter mail smtp forgot forgotten password lost reset',
    body: [
      'The owner of the instance lets people in, each with an account of their own: [[/instance|Instance, People]]. A member of your team sees and uses your projects: [[/account|Account, Members]].',
      { run: 'npx homeport team invite bob@example.com' },
      {
        list: [
          '403 `forbidden`: deleting a project, buying or moving a domain, and the team itself are for the owner of the account; settings of the instance are for the owner of the instance.',
          '403 `email_not_verified`: open the link that came by e-mail. The owner of the instance can count an address as verified, under People.',
          'A forgotten password: “Choose another password” on the page for signing in sends a letter with a link. Where no mail goes out, the owner of the instance makes the link under People (“Make a link to come in…”). The owner comes back in on the machine itself: `npx homeport open` signs in, `npx homeport password` sets another password.',
          'An invitation is good once, for 7 days, and a newer one for the same person takes its place.',
          'No letter comes: without a mail server (`HOMEPORT_SMTP_URL`) none goes out. The link is shown to whoever made it; hand it over yourself. With one, the log says `mail_not_sent` and why; to any but this machine a sign-in goes by TLS alone.',
        ],
      },
    ],
  },
  {
    id: 'plans',
    title: 'Plans, and 402',
    summary: 'Something asks for a larger plan or a card.',
    keywords: 'payment required 402 plan_limit_reached paid_plan_required payment_method_required billing stripe trial card subscription',
    body: [
      'Your own machine has no paywall: its owner’s account is on the largest plan, at no charge. Other accounts have the plan that they were given, and a 402 says what it does not hold: the number of projects, always warm, domains, memory. [[/account?at=plan|Account, Plan and card]] shows all limits, and how much of them is used.',
      {
        list: [
          '`plan_limit_reached`: there are as many as the plan holds. Remove one, or take a larger plan.',
          '`paid_plan_required`: the smallest plan does not have it.',
          '`payment_method_required`: give a card first. Without a payment processor, the owner of the instance says whether an account has one.',
          '`billing_not_configured`: this instance takes no payments; its owner changes plans.',
        ],
      },
      'To try a program of yours against every 402, change your own account for a while:',
      { run: 'npx homeport settings set plan starter' },
      { run: 'npx homeport settings set plan enterprise', note: 'and back' },
    ],
  },
  {
    id: 'instances',
    title: 'Other instances',
    summary: 'Add another Homeport, send a project there or fetch one, and why one does not answer.',
    keywords: 'remote instance promote pull production server connect remote_unreachable remote_token_refused switch',
    body: [
      '[[/instances|Instances]] keeps this one and any number of others, each by its address and a token made there. The colour of the frame says which one is in front of you.',
      {
        list: [
          '`remote_unreachable`: the address answers nothing, or nothing that is Homeport. Open it in a browser of this machine; an instance that only its own machine reaches has to be opened first ([[phones]]).',
          '`remote_token_refused`: make a new token there, and put it in here. A token is good for the instance that made it.',
          'A certificate of the other side that is not trusted: have this machine trust it, or name it in `NODE_EXTRA_CA_CERTS`.',
          'Nothing to send: what a deployment was made of is kept only as long as its build ([[disk]]).',
        ],
      },
      'To send a project to another instance (promote) or fetch one from there (pull), open its menu. What differs, settings and names of variables, is shown before anything is done; values of variables never travel by themselves.',
    ],
  },
  {
    id: 'desktop',
    title: 'The desktop',
    summary: 'Window and tray, start at login, updates, and where the logs of the app lie.',
    keywords: 'electron window tray update login autostart notification homeport:// link crash log file',
    body: [
      'The window shows the same dashboard as a browser does. Closed, Homeport goes on in the tray, where its projects and their addresses are; Quit ends it. Whether it starts at login, notifies, and fetches new versions by itself is chosen under [[/instance/desktop|Settings of the desktop]].',
      {
        list: [
          'No window comes: without a display, or without Electron’s program, Homeport runs headless and says so in one sentence. `npx install-electron` fetches the program; `ELECTRON_MIRROR` names another place for it.',
          'Links such as `homeport://projects/my-app` open in the window.',
          'Logs and reports of crashes stay on this machine: Help, Show Logs leads to them.',
          'A data folder that began in the desktop has its master key in the system’s keychain: headless it needs the key’s file in `HOMEPORT_MASTER_KEY_FILE`.',
        ],
      },
    ],
  },
  {
    id: 'trouble',
    title: 'When Homeport itself stumbles',
    summary: 'The platform does not answer, says internal_error, or does not start.',
    keywords: 'internal_error 500 decryption_failed unreachable crash log request id bug interrupted master key does not start already runs',
    body: [
      { run: 'npx homeport doctor', note: 'looks at everything that an instance stands on, and says how to mend it' },
      {
        list: [
          'It does not answer: it was stopped, or is starting. `npx homeport serve` starts it and says what hinders it.',
          '“Homeport runs on … already”: that is the one instance of this data folder. Use it, or name another folder with `--data`.',
          '`internal_error`: the message has a request id; the log of the platform, on the terminal that it runs in, has the cause under the same id.',
          '`interrupted`: Homeport was ended while a deployment ran. Press Build again.',
          '`decryption_failed`: the master key is not the one that sealed this. Give the right one in `HOMEPORT_MASTER_KEY_FILE`; without it, set the variable again.',
          'Secrets are sealed with a key in a file, where there is no keychain: keep the data folder private.',
          'The ledger was damaged, and a copy took its place: what changed after the time that is named is missing. Deploy it or set it again; the disk may be failing.',
        ],
      },
    ],
  },
]
