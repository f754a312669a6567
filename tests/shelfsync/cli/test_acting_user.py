from __future__ import annotations

import getpass

from shelfsync.cli.acting_user import user_or


def test_without_a_name_an_act_bears_the_user_of_the_machine():
    assert (user_or("ada"), user_or(None), user_or("")) == ("ada", getpass.getuser(), getpass.getuser())
