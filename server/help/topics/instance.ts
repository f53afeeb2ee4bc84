import type { HelpArticle } from '../topic.ts'

export const instanceTopics: HelpArticle[] = [
  {
    id: 'disk',
    title: 'The disk is full',
    summary: 'A request fails with 507, a deployment fails with storage_full, or an old version cannot be restored.',
    keywords: 'ENOSPC no space left on device storage_full 507 clean docker images prune keep_deployments rollback_not_allowed',
    body: [
      'When the disk is full, apps keep running and everything can be read, but writes are refused. No restart is needed once there is space again. [[/instance/disk|Disk]] shows what uses the space and deletes what is no longer needed, after listing it.',
      { run: 'npx homeport disk' },
      { run: 'npx homeport disk clean' },
      { run: 'docker system df', note: 'other data in Docker; docker system prune deletes it' },
      'Homeport keeps the last ten builds of each project, and always the one before the current one. A rollback to one of these is instant, unless variables or build settings changed since. The dialog tells which. A rollback to a deleted build builds its source again. To keep fewer or more builds:',
      { run: 'npx homeport settings set keep_deployments 5' },
      'On macOS and Windows, space that is freed in Docker returns to the disk only when the virtual machine of the engine releases it.',
    ],
  },
  {
    id: 'backups',
    title: 'Backup, restore, another machine',
    summary: 'Back up the instance, restore it, or move it to a new machine.',
    keywords: 'backup restore move migrate master key export recovery damaged database',
    body: [
      'A backup is one file with all projects, deployments, variables, uploads, logs and a dump of every database. Homeport keeps running while it is created. Create and download backups under [[/instance/backups|Backups]].',
      { run: 'npx homeport backup all.tar.gz' },
      { run: 'npx homeport backups', note: 'those that the instance keeps; get NAME downloads one, delete NAME deletes it' },
      'A backup never contains the master key. Without the key, encrypted data cannot be read, so keep a copy of it in another place: `master.key` in the data folder (`homeport doctor` shows the folder under disk).',
      { run: 'npx homeport restore all.tar.gz --data NEW --key master.key' },
      { run: 'npx homeport serve --data NEW' },
      {
        list: [
          'The key is lost: `--without-key` restores everything except secrets and lists what is missing.',
          'The key of a desktop installation is stored in the keychain of that machine and works only for the same user on the same machine.',
          '“A restore was interrupted”: the folder is incomplete. Run the same restore again.',
          'Do not keep running both the original and the restored instance, because both would watch the same repositories.',
        ],
      },
      'Homeport also copies its own database every hour and keeps seven copies. If the database is damaged at startup, Homeport uses the newest intact copy and tells you when it was made.',
      'Apps that were deployed after that copy keep running, without traffic, because the copy does not know them. The health check lists them. Deploy what should be live, then stop them with homeport disk clean unknown_apps.',
    ],
  },
  {
    id: 'tokens',
    title: 'Signing in, tokens and limits',
    summary: 'The dashboard asks you to sign in, a program gets a 401 or 429, or a request returns the same response twice.',
    keywords: 'unauthorized 401 token api password session rate_limited 429 idempotency_conflict retry-after svc_',
    body: [
      'A browser signs in with a link that works once:',
      { run: 'npx homeport open' },
      'A program sends an API token. Create one under [[/account?at=tokens|Account, API tokens]]; it is shown only once. After you revoke it, the next request with it is refused.',
      { run: 'npx homeport tokens create ci --scope deploy --project blog --days 90' },
      'A scope limits what the token may do: `read` sees states, logs and metrics; `deploy` also deploys, rolls back, sets variables, runs commands and takes snapshots; `admin` may do everything, including deletion, secrets and settings. Without `--scope` a token may do all that you may. For a token with a project, other projects do not exist.',
      { run: 'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4600/v1/projects' },
      {
        list: [
          '403 `insufficient_scope`: the token has another scope or project than the request needs. The message names it.',
          '401 `unauthorized`: the token is mistyped, revoked or expired, or belongs to another instance.',
          '429 `rate_limited`: the client sent more requests per minute than the instance allows. `Retry-After` says when to try again.',
          '409 `idempotency_conflict`: this `Idempotency-Key` was used for another request within 24 hours, or its request was interrupted. Check the current state, then use a new key.',
        ],
      },
    ],
  },
  {
    id: 'mcp',
    title: 'Coding agents (MCP)',
    summary: 'Let an agent such as Claude Code or Cursor deploy, read failures and logs, and set variables.',
    keywords: 'model context protocol mcp agent ai llm claude code cursor codex copilot tools stdio streamable http',
    body: [
      'Create a token that allows what the agent needs and nothing else, for one project or all. With `read` it looks, with `deploy` it also deploys, rolls back, sets variables and takes snapshots; deletion and restores need `admin`.',
      { run: 'npx homeport tokens create agent --scope deploy --project blog --days 90' },
      'On this machine the agent starts the command `homeport mcp`. Its configuration has an entry like this, in `.mcp.json` for Claude Code and `.cursor/mcp.json` for Cursor. Keep the file out of git, because the token is in it:',
      {
        file: '.mcp.json',
        text: `{
  "mcpServers": {
    "homeport": {
      "command": "npx",
      "args": ["homeport", "mcp"],
      "env": { "HOMEPORT_TOKEN": "svc_..." }
    }
  }
}`,
      },
      'Without `HOMEPORT_TOKEN` the agent may do all that you may on this machine. For another instance add `HOMEPORT_URL`, or use HTTP, where the token is always needed:',
      { run: 'claude mcp add my-instance http://127.0.0.1:4600/mcp --transport http --header "Authorization: Bearer $TOKEN"' },
      {
        list: [
          'The agent sees only the tools that its token allows. Every call passes the checks of every other request, and counts towards the limit of requests per minute.',
          'No tool returns values of variables or passwords. Only `query_database` returns data of an app: it needs a token with the scope `admin`, and reads only. An agent can set a variable, and list the names of all.',
          'Logs may contain text that speaks to the agent. What a tool returns is marked as data, yet no mark is a guarantee: give an agent that reads logs of strangers the scope `read`.',
          'Before a volume is deleted, or a volume or database restored, a snapshot of its data is taken.',
          'When you [[/account?at=tokens|revoke the token]], its next call is refused.',
        ],
      },
    ],
  },
  {
    id: 'people',
    title: 'People and teams',
    summary: 'Invite people, or find out why something is forbidden.',
    keywords:
      'invite member team forbidden 403 email_not_verified sign up account owner invitation letter mail smtp forgot forgotten password lost reset',
    body: [
      'The owner of the instance adds people, each with their own account, under [[/instance|Instance, People]]. Members of your team can see and use your projects: [[/account|Account, Members]].',
      { run: 'npx homeport user invite bob@example.com', note: 'their own account; add instead of invite prints a token for scripts' },
      { run: 'npx homeport team invite bob@example.com', note: 'into your team; team dismiss removes a member' },
      {
        list: [
          '403 `forbidden`: only the owner of an account can delete projects, buy or move domains, and change the team. Only the owner of the instance can change its settings.',
          '403 `email_not_verified`: open the link in the verification email. The owner of the instance can also mark an address as verified under People.',
          'Forgotten password: request a link on the sign-in page. If the instance sends no email, its owner can create the link under People. The owner runs `npx homeport open` on the machine itself to sign in, and `npx homeport password` to set a new password.',
          'An invitation works once and expires after 7 days. A newer invitation for the same person replaces it.',
          'No email arrives: without a mail server (`HOMEPORT_SMTP_URL`) none is sent. The link is shown to the person who created it, who can pass it on. With a mail server, the log event `email_send_failed` has the reason. Homeport signs in to a mail server on another machine only over TLS.',
        ],
      },
    ],
  },
  {
    id: 'plans',
    title: 'Plans and 402',
    summary: 'An action requires a larger plan or a card.',
    keywords: 'payment required 402 replicas plan_limit_reached paid_plan_required payment_method_required billing stripe trial card subscription',
    body: [
      'There is no paywall on your own machine: the owner’s account is on the largest plan, free of charge. Other accounts have the plan that they were given. A 402 says which limit was reached: number of projects, replicas, always warm, domains. [[/account?at=plan|Account, Plan and card]] shows all limits and the current usage.',
      {
        list: [
          '`plan_limit_reached`: the plan allows no more projects, or no more replicas of a service ([[replicas]]). Remove some, or switch to a larger plan.',
          '`paid_plan_required`: this feature is not in the free plan.',
          '`payment_method_required`: add a card first. Without a payment processor, the owner of the instance decides whether an account counts as having one.',
          '`billing_not_configured`: this instance accepts no payments. Its owner changes plans.',
        ],
      },
      { run: 'npx homeport billing', note: 'the plan and the payments of your account' },
      'To test a client against every 402, change the plan of your own account temporarily:',
      { run: 'npx homeport settings set plan starter' },
      { run: 'npx homeport settings set plan enterprise', note: 'switches back' },
    ],
  },
  {
    id: 'instances',
    title: 'Other instances',
    summary: 'Add another Homeport, promote or pull projects, and what to do if it does not respond.',
    keywords:
      'remote instance promote pull production server connect remote_unreachable remote_token_refused switch copy move volume service database',
    body: [
      '[[/instances|Instances]] lists this instance and any others that you add with their URL and an API token. The color of the frame shows which instance you are looking at.',
      {
        list: [
          '`remote_unreachable`: nothing at this URL responds, or it is not Homeport. Open the URL in a browser on this machine. If the other instance is closed to the network, open it first ([[phones]]).',
          '`remote_token_refused`: create a new token on the other instance and enter it here. A token works only on the instance that created it.',
          'The certificate of the other instance is not trusted: trust it on this machine, or set `NODE_EXTRA_CA_CERTS` to its file.',
          'The source is missing: the source of a deployment is kept only as long as its build ([[disk]]).',
        ],
      },
      { h: 'Promote and pull' },
      'To send a project to another instance or to a hosted account, choose Promote in the project’s menu; to fetch one, choose Pull to this machine. Homeport first shows the commit, the settings that differ and the names of the variables, and then uploads exactly what the deployment was built from.',
      {
        list: [
          'Settings are copied unless you deselect them, with watch paths, health checks, limits and previews. Variable values are copied only if you select them, one by one. Nothing is deleted on the other instance.',
          'Managed services, the mail catcher, the PostgreSQL database and kept paths are added there before the deployment, with new passwords.',
          'Data is copied only if you select it: volumes with their sizes, and databases as dumps. Data that the other side has is kept, unless you choose to replace it; then a snapshot or a dump of it is taken first.',
          'At the end, a list shows what was copied, what was not, and what to do: values of write-only variables and passwords of registries cannot be read, so add them there. An older instance may not support an operation; the list names it.',
          'A step failed: the message says what was completed. Try again continues from there, Undo changes reverts everything.',
          'You closed the page: the dashboard offers to resume or undo the promotion when you open it again in the same browser.',
          'A hosted account does not provide sources: its projects are pulled from their Git URL, at the head of the branch.',
        ],
      },
      {
        run: 'npx homeport promote my-app production --variables all --volumes uploads --databases all',
        note: 'production is the name of an instance, as in homeport instances',
      },
      { run: 'npx homeport pull my-app production', note: 'asks for each volume and database' },
      'After a failure, run the same command again: what already exists is kept.',
      { run: 'npx homeport deployments source ID --out app.tar.gz', note: 'downloads the source of a deployment' },
    ],
  },
  {
    id: 'desktop',
    title: 'The desktop app',
    summary: 'Window and tray, start at login, updates, and log files.',
    keywords: 'electron window tray update login autostart notification homeport:// link crash log file',
    body: [
      'The window shows the same dashboard as a browser. When you close it, Homeport keeps running in the tray, which lists your projects and their URLs. Quit stops Homeport. Choose under [[/instance/desktop|Desktop settings]] whether it starts at login, shows notifications and downloads updates automatically.',
      {
        list: [
          'No window opens: without a display or without the Electron binary, Homeport runs headless and prints a message. Run `npx install-electron` to download the binary; set `ELECTRON_MIRROR` to use another download server.',
          'Links such as `homeport://projects/my-app` open in the window.',
          'Logs and crash reports stay on this machine. Help, Show Logs opens their folder.',
          'The master key of a desktop installation is in the system’s keychain. To run it headless, set `HOMEPORT_MASTER_KEY_FILE` to a file with the key.',
        ],
      },
    ],
  },
  {
    id: 'trouble',
    title: 'Problems with Homeport itself',
    summary: 'Homeport does not respond, returns internal_error, or does not start.',
    keywords: 'internal_error 500 decryption_failed unreachable crash log request id bug interrupted master key does not start already runs',
    body: [
      { run: 'npx homeport doctor', note: 'checks the whole instance and explains how to fix problems' },
      {
        list: [
          'Homeport does not respond: it is stopped or still starting. `npx homeport serve` starts it, or says why it cannot start.',
          '“Homeport is already running on …”: another process uses this data folder. Use that instance, or choose another folder with `--data`.',
          '`internal_error`: the message has a request ID. The cause is under the same ID in the log of the platform, in the terminal where it runs.',
          '`edge worker ended` in the log: the process that serves the traffic of the apps ended and was replaced. Requests that it was serving were lost. `--edge-workers` sets the number of these processes; with 0 the platform serves the apps itself.',
          '`interrupted`: Homeport stopped while a deployment was running. Press Redeploy.',
          '`decryption_failed`: the master key is not the one that encrypted this value. Provide the right one in `HOMEPORT_MASTER_KEY_FILE`, or set the variable again.',
          'Without a keychain, the key that encrypts secrets is a file in the data folder: keep that folder private.',
          'The database was damaged and replaced by a copy: changes after the time in the message are missing. Make them again, and check the disk for errors.',
        ],
      },
    ],
  },
]
