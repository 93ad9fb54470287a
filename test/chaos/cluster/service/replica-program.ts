/** The command line of the checkout that this file is in, without the launcher: copies of a checkout have none. */
import { main } from '../../../../src/cli/main.ts';

process.exitCode = await main(process.argv.slice(2), process);
